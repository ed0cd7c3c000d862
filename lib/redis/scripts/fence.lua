-- keys: numbers, resources...
-- args: token, number
-- Raises the fencing numbers of the token's locks to `number`.
-- Returns {1, number}: all numbers were lower and are `number` now; {2, highest}: the highest of the numbers is not
-- lower; {-1, holder, PTTL}: one of the resources is not ours.
local call = redis.call
local f = tonumber(args.number)
-- The floor is the score of the member '', which is not the name of any resource. No number that this node has
-- forgotten is above the floor.
local floor = tonumber(call('zscore', keys.numbers, ''))
if not floor then
  local time = call('time')
  floor = time[1] * 1000000 + time[2]
  call('zadd', keys.numbers, string.format('%.0f', floor), '',
    'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
end
local last = floor
for i = keys.resources.first, #KEYS do
  local holder = call('type', KEYS[i]).ok == 'string' and call('get', KEYS[i]) or ''
  if holder ~= args.token then
    return {-1, holder, call('pttl', KEYS[i])}
  end
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
