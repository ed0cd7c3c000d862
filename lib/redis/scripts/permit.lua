-- keys: permit
-- args: token, ttl_ms, prefix, permits, client, ticket, remember_ms, reservation_ms
-- Takes a permit of a semaphore that has `permits` permits, whose names begin with `prefix`. `client` is the id of a
-- waiting client, or ''; `ticket` is its ticket ('0': a new one; '': the client is not queued), remembered for
-- `remember_ms`. A permit that is reserved for the client can be exchanged for any that nobody has: nodes may have
-- reserved different permits for the client. A free permit is reserved for the first client in the semaphore's queue,
-- for `reservation_ms`.
-- Returns {1, ''}: ours; {-1, digits, ms}: not ours. There is a digit for each permit: 1 if the client can have it. The
-- next permit can be free after `ms` milliseconds. For a client that was queued also {..., ticket, 1 if it is first}.
local call, permit, prefix, client = redis.call, keys.permit, args.prefix, args.client
local queue, reservation = 'redlock:node:queue:' .. prefix, 'redlock:next:' .. client
local waits = client ~= '' and call('exists', 'redlock:node:awaited') == 1

local function take()
  call('set', permit, args.token, 'PX', args.ttl_ms)
  if waits then
    call('zrem', queue, client)
  end
  return {1, ''}
end

-- The usual cases come before the functions, which cost the node time to define.
if waits then
  if redis.pcall('get', permit) == reservation then
    return take()
  end
elseif call('set', permit, args.token, 'NX', 'PX', args.ttl_ms) then
  return {1, ''}
end

local states, free, mine, soonest = {}, {}, nil, nil
for i = 1, tonumber(args.permits) do
  local name = prefix .. (i - 1)
  local left = call('pttl', name)
  local value = left ~= -2 and client ~= '' and redis.pcall('get', name)
  local for_it = value == reservation
  if for_it and mine then
    -- One reserved permit is enough.
    call('del', name)
    left = -2
  end
  if left == -2 then
    free[#free + 1] = name
    states[name] = 'free'
  elseif for_it then
    mine = name
    states[name] = 'free'
  elseif type(value) == 'string' and string.sub(value, 1, 13) == 'redlock:next:' then
    states[name] = value
  end
  if left >= 0 and (not soonest or left < soonest) then
    soonest = left
  end
end

-- with: waiters
if waits and mine and states[permit] then
  if states[permit] ~= 'free' then
    call('set', mine, states[permit], 'PX', math.max(call('pttl', permit), 1))
    return take()
  end
  local result = take()
  call('del', mine)
  pass_on(mine, args.reservation_ms)
  return result
end
local first = call('zrange', queue, 0, 0)[1] or ''
if client ~= '' and states[permit] == 'free' and (first == '' or first == client) then
  return take()
end

local ticket = 0
if client ~= '' and args.ticket ~= '' and not mine then
  -- with: tickets
  ticket = enqueue(prefix, client, args.ticket, args.remember_ms)
  first = call('zrange', queue, 0, 0)[1]
end
if first ~= '' then
  if waits and free[1] then
    stand_by(prefix, client)
  end
  for _, name in ipairs(free) do
    local successor = pass_on(name, args.reservation_ms)
    if successor == client then
      mine = name
    end
    if not successor then
      break
    end
  end
end
local digits = {}
for i = 1, tonumber(args.permits) do
  local name = prefix .. (i - 1)
  local can_have = states[name] and (mine or (states[name] == 'free' and first == ''))
  digits[i] = can_have and '1' or '0'
end
if client == '' or args.ticket == '' then
  return {-1, table.concat(digits), soonest or -1}
end
return {-1, table.concat(digits), soonest or -1, ticket, call('zrange', queue, 0, 0)[1] == client and 1 or 0}
