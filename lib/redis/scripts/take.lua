-- with: holds
-- KEYS: numbers, resources. ARGV: token, TTL in milliseconds, number f or '0', and for how long new
-- readers are kept out where readers are in the way, in milliseconds.
-- All resources or none. {1, f}: ours, and their numbers F were below f and are f now; {2, F}: ours, and
-- F, the highest of them, is not below f; {-1, holder, ms, which}: the resource of that index, from 1 on, is not
-- ours, for ms.
-- Numbers are microseconds, so that all stay integers below 2^53.
local call = redis.call
local f = tonumber(ARGV[3])
local floor = tonumber(call('zscore', KEYS[1], ''))
if f > 0 then
  local time = call('time')
  local now = time[1] * 1000000 + time[2]
  if f > now + 86400000000 then
    return redis.error_reply('FENCE the number asked for is more than a day ahead of this node: '
      .. "the client's clock or this node's is wrong")
  end
  -- No number that this node has forgotten is above its floor, which no resource's name is.
  if not floor then
    floor = now
    call('zadd', KEYS[1], string.format('%.0f', floor), '',
      'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
  end
end

for i = 2, #KEYS do
  local key = KEYS[i]
  local kind = call('type', key).ok
  if kind == 'string' then
    return {-1, call('get', key), call('pttl', key), i - 1}
  elseif kind == 'zset' then
    local now = milliseconds()
    local whose, holds = read_holds(key, now)
    if not whose then
      return {-1, '', call('pttl', key), i - 1}
    end
    if holds > 0 then
      local left = held_for(key, now)
      if whose == 'shared' and ARGV[4] ~= '0' then
        call('zadd', key, string.format('%.0f', now + ARGV[4]), 'writer')
        expire_with_last(key)
      end
      return {-1, whose, left, i - 1}
    end
  elseif kind ~= 'none' then
    return {-1, '', call('pttl', key), i - 1}
  end
end
for i = 2, #KEYS do
  call('set', KEYS[i], ARGV[1], 'PX', ARGV[2])
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
