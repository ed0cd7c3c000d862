-- KEYS: resource, numbers. ARGV: token, number f; to take the lock also its TTL in milliseconds.
-- Without it, the number of a lock that is ours is raised.
-- {1, f}: ours, and its number F was below f and is f now; {2, F}: ours, F is not below f;
-- {-1, holder, PTTL}: not ours. Numbers are microseconds, so that all stay integers below 2^53.
local call = redis.call
local f = tonumber(ARGV[2])
-- No number that this node has forgotten is above its floor, which no resource's name is.
local floor = tonumber(call('zscore', KEYS[2], ''))
local kept = tonumber(call('zscore', KEYS[2], KEYS[1]))
if ARGV[3] or not floor then
  local time = call('time')
  local now = time[1] * 1000000 + time[2]
  if ARGV[3] and f > now + 86400000000 then
    return redis.error_reply('FENCE the number asked for is more than a day ahead of this node: '
      .. "the client's clock or this node's is wrong")
  end
  if not floor then
    floor = now
    call('zadd', KEYS[2], string.format('%.0f', floor), '',
      'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
  end
end

if ARGV[3] then
  if not call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3]) then
    local string_there = call('type', KEYS[1]).ok == 'string'
    return {-1, string_there and call('get', KEYS[1]) or '', call('pttl', KEYS[1])}
  end
else
  local holder = call('type', KEYS[1]).ok == 'string' and call('get', KEYS[1]) or ''
  if holder ~= ARGV[1] then
    return {-1, holder, call('pttl', KEYS[1])}
  end
end

local last = math.max(kept or 0, floor)
-- Strict: that is what makes an answer of 1 worth something.
if last < f then
  call('zadd', KEYS[2], ARGV[2], KEYS[1])
  return {1, f}
end
return {2, last}
