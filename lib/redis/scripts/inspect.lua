-- {value, or false where there is no string, PTTL, type}: all three of one instant, which three
-- commands of their own would not be. GET is asked only of a string, so that it can not raise.
local kind = redis.call('type', KEYS[1]).ok
local value = false
if kind == 'string' then
  value = redis.call('get', KEYS[1])
end
return {value, redis.call('pttl', KEYS[1]), kind}
