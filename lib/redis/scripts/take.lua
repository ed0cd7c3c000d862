-- keys: numbers, resources...
-- args: token, ttl_ms, number, writer_reservation_ms, client, ticket, remember_ms, reservation_ms, waits_for?, keep_ms?
-- Takes all resources or none, with the fencing number `number` ('0': without one). If holds are in the way, new ones
-- are refused for `writer_reservation_ms`. `client` is the id of a waiting client, or ''; `ticket` is its ticket ('0':
-- a new one; '': the client is not queued), remembered for `remember_ms`. A resource that is reserved for the client is
-- free for it; a free one is reserved for the first client in its queue, for `reservation_ms`.
-- Of several resources, the client waits for the one of index `waits_for`, from 1 on ('0': for none): that one is
-- looked at first, then the others in the order of their names. If one of them is in the way, those that are reserved
-- for the client stay reserved for `keep_ms` ('0': for as long as they are), and nothing else is reserved for it.
-- Returns {1, number}: ours, and their numbers were lower and are `number` now; {2, highest}: ours, and the highest of
-- their numbers is not lower; {-1, holder, ms, which}: not ours, because the resource of index `which`, from 1 on, is
-- taken for `ms` milliseconds. For a client that was queued also {..., ticket, 1 if it is first}.
local call = redis.call
local client, reservation = args.client, 'redlock:next:' .. args.client
-- With a single resource, the first resource is the last key.
local queues = client ~= '' and args.ticket ~= '' and #KEYS == keys.resources.first
local several = client ~= '' and #KEYS > keys.resources.first
-- Numbers are microseconds, so that all stay integers below 2^53.
local f, floor = tonumber(args.number), nil
if f > 0 then
  local time = call('time')
  local now = time[1] * 1000000 + time[2]
  if f > now + 86400000000 then
    return redis.error_reply('FENCE the number asked for is more than a day ahead of this node: '
      .. "the client's clock or this node's is wrong")
  end
  -- The floor is the score of the member '', which is not the name of any resource. No number that this node has
  -- forgotten is above the floor.
  floor = tonumber(call('zscore', keys.numbers, ''))
  if not floor then
    floor = now
    call('zadd', keys.numbers, string.format('%.0f', floor), '',
      'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
  end
end

-- Functions cost the node time to define, so each path defines only those that it needs.
local holder, left, which
local order = {}
for i = keys.resources.first, #KEYS do
  order[i - 1] = i
end
if #KEYS > keys.resources.first then
  local awaited = keys.resources.first - 1 + (args.waits_for or 0)
  table.sort(order, function(one, other)
    if one == awaited or other == awaited then
      return one ~= other and one == awaited
    end
    return KEYS[one] < KEYS[other]
  end)
end
for _, i in ipairs(order) do
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
        -- The client was to be let in with other readers, and is no longer one of them.
        if reserved and client ~= '' and admit(key, client) then
          reserved = call('zscore', key, 'next')
        end
      end
      if not whose then
        holder, left = '', call('pttl', key)
      elseif holds > 0 or reserved then
        holder, left = whose, held_for(key, now)
        if args.writer_reservation_ms ~= '0' then
          refuse_new_holds(key, whose, now, args.writer_reservation_ms)
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
      enqueue(key, client, args.ticket, args.remember_ms)
    end
    stand_by(key, client)
    pass_on(key, args.reservation_ms)
  end
  if holder then
    which = i - 1
    for kept = keys.resources.first, several and (args.keep_ms or '0') ~= '0' and #KEYS or 0 do
      if kept ~= i and redis.pcall('get', KEYS[kept]) == reservation then
        call('pexpire', KEYS[kept], args.keep_ms)
      end
    end
    break
  end
end
if holder then
  if not queues then
    return {-1, holder, left, which}
  end
  -- with: tickets
  local ticket = enqueue(KEYS[keys.resources.first], client, args.ticket, args.remember_ms)
  return {-1, holder, left, which, ticket, first_in_queue(KEYS[keys.resources.first]) == client and 1 or 0}
end
for i = keys.resources.first, #KEYS do
  call('set', KEYS[i], args.token, 'PX', args.ttl_ms)
end
if queues then
  call('zrem', 'redlock:node:queue:' .. KEYS[keys.resources.first], client)
end
if f == 0 then
  return {1, 0}
end

local last = floor
for i = keys.resources.first, #KEYS do
  last = math.max(last, tonumber(call('zscore', keys.numbers, KEYS[i])) or 0)
end
-- Strict, so that an answer of 1 proves that all numbers were lower.
if last >= f then
  -- 'inf' is not an integer: a number close to 2^53 has the same effect.
  return {2, math.min(last, 9007199254740991)}
end
for i = keys.resources.first, #KEYS do
  call('zadd', keys.numbers, args.number, KEYS[i])
end
return {1, f}
