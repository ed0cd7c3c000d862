-- keys: resource
-- args: client, permits?
-- Whether the resource is free although clients are queued, because its holder, or the client that it was reserved for,
-- did not come. Reserves nothing. `client`, the id of a queued client, becomes the next standby. `permits` is the number
-- of permits of a semaphore: `resource` is then the beginning of their names.
-- Returns {0, ticket, 1 if it is first}: free; {1, ...}: not free. The ticket is 0 if the client is not queued.
local call, key, client = redis.call, keys.resource, args.client
local queue = 'redlock:node:queue:' .. key
local ticket = call('zscore', queue, client)
if not ticket then
  client = '~' .. client
  ticket = call('zscore', queue, client)
end
-- A standby that was notified stays one until the reservation ends: else each check would make another one, which makes
-- an attempt.
local standby = ticket and redis.pcall('get', 'redlock:node:watch:' .. key)
if ticket and (type(standby) ~= 'string' or string.sub(standby, 1, 1) == '?') then
  -- with: waiters
  stand_by(key, client)
end
local is_free = false
if args.permits then
  for i = 1, tonumber(args.permits) do
    is_free = is_free or call('exists', key .. (i - 1)) == 0
  end
else
  local kind = call('type', key).ok
  is_free = kind == 'none'
  if kind == 'zset' then
    -- with: holds
    -- with: holder
    is_free = not find_holder(key)
  end
end
return {is_free and 0 or 1, tonumber(ticket) or 0, call('zrange', queue, 0, 0)[1] == client and 1 or 0}
