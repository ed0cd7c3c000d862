-- KEYS: resource. ARGV: the waiting client's id, for how many milliseconds to remember it, where it is queued, its
-- ticket ('0': a new one), and for how long a free resource is reserved for who is first, in milliseconds.
-- Where: '0' by its ticket, or as it is queued already; '1' behind all others, because a waiting writer keeps it
-- out; '2' ahead of all others, but behind those that are there for the same reason: a writer that keeps readers out;
-- '3' as '0', and '4' as '1', and nothing is to be reserved for it.
-- {1, ticket, 1 if it is first}: wait for a notification; {0, …}: try again, the resource has no holder whose
-- release would notify.
local call = redis.call
local key, behind = KEYS[1], ARGV[3] == '1' or ARGV[3] == '4'
local client = tonumber(ARGV[3]) > 2 and '+' .. ARGV[1] or ARGV[1]
local queue = 'redlock:node:queue:' .. key
-- with: tickets
if behind then
  call('zrem', queue, client)
end
if ARGV[3] == '2' then
  local score = tonumber(call('zscore', queue, client))
  if not score or score > 0 then
    local ahead = call('zcount', queue, '-inf', '(0')
    local last = ahead > 0 and call('zrange', queue, ahead - 1, ahead - 1, 'withscores')[2]
    call('zadd', queue, (tonumber(last) or -4503599627370496) + 1, client)
    call('zadd', queue, 'NX', 1, '')
  end
end
local ticket = enqueue(key, client, behind and '0' or ARGV[4], ARGV[2])
-- The usual case, ahead of functions that cost the node time to define.
local holder = redis.pcall('get', key)
if type(holder) == 'string' and holder ~= 'redlock:cooldown' then
  return {1, ticket, first_in_queue(key) == client and 1 or 0}
end

-- with: waiters
-- with: holds
-- with: holder
if call('exists', key) == 0 then
  pass_on(key, ARGV[5])
end
local has_holder, reserved = find_holder(key)
return {(has_holder or (reserved and behind)) and 1 or 0, ticket, first_in_queue(key) == client and 1 or 0}
