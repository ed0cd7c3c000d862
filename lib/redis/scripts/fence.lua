-- KEYS: numbers, resources. ARGV: token, number f.
-- Raises the numbers of locks that are ours. {1, f}: their numbers F were below f and are f now; {2, F}:
-- F, the highest of them, is not below f; {-1, holder, PTTL}: one is not ours.
local call = redis.call
local f = tonumber(ARGV[2])
-- No number that this node has forgotten is above its floor, which no resource's name is.
local floor = tonumber(call('zscore', KEYS[1], ''))
if not floor then
  local time = call('time')
  floor = time[1] * 1000000 + time[2]
  call('zadd', KEYS[1], string.format('%.0f', floor), '',
    'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
end
local last = floor
for i = 2, #KEYS do
  local holder = call('type', KEYS[i]).ok == 'string' and call('get', KEYS[i]) or ''
  if holder ~= ARGV[1] then
    return {-1, holder, call('pttl', KEYS[i])}
  end
  last = math.max(last, tonumber(call('zscore', KEYS[1], KEYS[i])) or 0)
end
-- Strict: an answer of 1 is then proof that the number was lower.
if last >= f then
  -- 'inf' is no integer: a number close to 2^53 has the same effect.
  return {2, math.min(last, 9007199254740991)}
end
for i = 2, #KEYS do
  call('zadd', KEYS[1], ARGV[2], KEYS[i])
end
return {1, f}
