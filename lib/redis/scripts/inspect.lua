-- KEYS: resource, numbers, quarantine.
-- {value, or false where there is no string, PTTL, type, number, PTTL of the quarantine}: all of one
-- instant, which commands of their own would not be. GET is asked only of a string, so that it can
-- not raise.
local kind = redis.call('type', KEYS[1]).ok
local value = false
if kind == 'string' then
  value = redis.call('get', KEYS[1])
end
local number = redis.pcall('zscore', KEYS[2], KEYS[1])
return {value, redis.call('pttl', KEYS[1]), kind,
  type(number) == 'string' and tonumber(number) or 0, redis.call('pttl', KEYS[3])}
