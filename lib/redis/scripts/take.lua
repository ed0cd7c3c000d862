-- KEYS: numbers, resources. ARGV, all times in milliseconds: token, TTL, number f or '0'; for how long new holds are
-- refused if holds are in the way, and other clients if one of several resources is; of a client that waits its id,
-- or ''; its ticket ('0': a new one; '': it is not to be queued); for how long to remember it, and for how long a
-- free resource is reserved for who is first.
-- All resources or none. {1, f}: ours, and their numbers F were below f and are f now; {2, F}: ours, and
-- F, the highest of them, is not below f; {-1, holder, ms, which}: the resource of that index, from 1 on, is not
-- ours, for ms; of a client that was queued {…, ticket, 1 if it is first}.
-- A resource that is reserved for the client is free for it; a free one is passed on if another client is first in the
-- queue. If one of several resources is in the way, those before it are reserved for the client: all clients ask for
-- them in the order of their names, so that two clients do not each keep one from the other.
-- Numbers are microseconds, so that all stay integers below 2^53.
local call = redis.call
local client, reservation = ARGV[5], 'redlock:next:' .. ARGV[5]
local queues = client ~= '' and ARGV[6] ~= '' and #KEYS == 2
local several = client ~= '' and #KEYS > 2
local f, floor = tonumber(ARGV[3]), nil
if f > 0 then
  local time = call('time')
  local now = time[1] * 1000000 + time[2]
  if f > now + 86400000000 then
    return redis.error_reply('FENCE the number asked for is more than a day ahead of this node: '
      .. "the client's clock or this node's is wrong")
  end
  -- No number that this node has forgotten is above its floor, which no resource's name is.
  floor = tonumber(call('zscore', KEYS[1], ''))
  if not floor then
    floor = now
    call('zadd', KEYS[1], string.format('%.0f', floor), '',
      'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
  end
end

-- Functions cost the node time to define: each where it is needed.
local holder, left, which
local order = {}
for i = 2, #KEYS do
  order[i - 1] = i
end
if #KEYS > 2 then
  table.sort(order, function(one, other) return KEYS[one] < KEYS[other] end)
end
for place, i in ipairs(order) do
  local key = KEYS[i]
  for attempt = 1, 2 do
    local value = redis.pcall('get', key)
    if type(value) == 'table' then
      if not string.find(value.err, 'WRONGTYPE', 1, true) then
        return value
      end
      -- with: holds
      local now, whose, holds, writer, reserved = milliseconds(), nil, nil, nil, nil
      if call('type', key).ok == 'zset' then
        whose, holds, writer, reserved = read_holds(key, now)
        -- It was to be let in with other readers, and is none any more.
        if reserved and client ~= '' and admit(key, client) then
          reserved = call('zscore', key, 'next')
        end
      end
      if not whose then
        holder, left = '', call('pttl', key)
      elseif holds > 0 or reserved then
        holder, left = whose, held_for(key, now)
        if ARGV[4] ~= '0' then
          refuse_new_holds(key, whose, now, ARGV[4])
        end
      end
      value = false
    elseif value and (client == '' or value ~= reservation) then
      holder, left = value, call('pttl', key)
    end
    local first = not (holder or value) and (queues or several) and attempt == 1
      and call('zrange', 'redlock:node:queue:' .. key, 0, 0)[1]
    if not first or first == '' or first == client then
      break
    end
    -- with: tickets
    -- with: waiters
    if queues then
      enqueue(key, client, ARGV[6], ARGV[7])
    end
    pass_on(key, ARGV[8])
  end
  if holder then
    which = i - 1
    for before = 1, several and ARGV[4] ~= '0' and place - 1 or 0 do
      call('set', KEYS[order[before]], reservation, 'PX', ARGV[4])
    end
    break
  end
end
if holder then
  if not queues then
    return {-1, holder, left, which}
  end
  -- with: tickets
  local ticket = enqueue(KEYS[2], client, ARGV[6], ARGV[7])
  return {-1, holder, left, which, ticket, first_in_queue(KEYS[2]) == client and 1 or 0}
end
for i = 2, #KEYS do
  call('set', KEYS[i], ARGV[1], 'PX', ARGV[2])
end
if queues then
  call('zrem', 'redlock:node:queue:' .. KEYS[2], client)
end
if f == 0 then
  return {1, 0}
end

local last = floor
for i = 2, #KEYS do
  last = math.max(last, tonumber(call('zscore', KEYS[1], KEYS[i])) or 0)
end
-- Strict: an answer of 1 is then proof that the number was lower.
if last >= f then
  -- 'inf' is no integer: a number close to 2^53 has the same effect.
  return {2, math.min(last, 9007199254740991)}
end
for i = 2, #KEYS do
  call('zadd', KEYS[1], ARGV[3], KEYS[i])
end
return {1, f}
