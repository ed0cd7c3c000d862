-- KEYS: the permit to take. ARGV: token, TTL in milliseconds, how the names of all permits begin, their number; of a client
-- that waits, its id, or '', its ticket ('0': a new one; '': it is not to be queued), for how many milliseconds to remember
-- it, and for how many a free permit is reserved for who is next.
-- {1, ''}: ours; {-1, a digit per permit: 1 where the client can have it, ms until the next can be free}, of a client that
-- was queued {…, ticket, 1 if it is first}.
-- A permit that is reserved for the client stands for any that nobody has: nodes may have passed on different ones. What
-- is free is passed on, if others are first in the queue of the semaphore.
local call, permit, prefix, client = redis.call, KEYS[1], ARGV[3], ARGV[5]
local queue, reservation = 'redlock:node:queue:' .. prefix, 'redlock:next:' .. client
local waits = client ~= '' and call('exists', 'redlock:node:awaited') == 1

local function take()
  call('set', permit, ARGV[1], 'PX', ARGV[2])
  if waits then
    call('zrem', queue, client)
  end
  return {1, ''}
end

-- The usual cases, ahead of functions that cost the node time to define.
if waits then
  if redis.pcall('get', permit) == reservation then
    return take()
  end
elseif call('set', permit, ARGV[1], 'NX', 'PX', ARGV[2]) then
  return {1, ''}
end

local states, free, mine, soonest = {}, {}, nil, nil
for i = 1, tonumber(ARGV[4]) do
  local name = prefix .. (i - 1)
  local left = call('pttl', name)
  local value = left ~= -2 and client ~= '' and redis.pcall('get', name)
  local for_it = value == reservation
  if for_it and mine then
    -- One is enough.
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
  pass_on(mine, ARGV[8])
  return result
end
local first = call('zrange', queue, 0, 0)[1] or ''
if client ~= '' and states[permit] == 'free' and (first == '' or first == client) then
  return take()
end

local ticket = 0
if client ~= '' and ARGV[6] ~= '' and not mine then
  -- with: tickets
  ticket = enqueue(prefix, client, ARGV[6], ARGV[7])
  first = call('zrange', queue, 0, 0)[1]
end
if first ~= '' then
  for _, name in ipairs(free) do
    local heir = pass_on(name, ARGV[8])
    if heir == client then
      mine = name
    end
    if not heir then
      break
    end
  end
end
local digits = {}
for i = 1, tonumber(ARGV[4]) do
  local name = prefix .. (i - 1)
  local can_have = states[name] and (mine or (states[name] == 'free' and first == ''))
  digits[i] = can_have and '1' or '0'
end
if client == '' or ARGV[6] == '' then
  return {-1, table.concat(digits), soonest or -1}
end
return {-1, table.concat(digits), soonest or -1, ticket, call('zrange', queue, 0, 0)[1] == client and 1 or 0}
