-- keys: numbers
-- args: none
-- Forgets fencing numbers that were not raised for two days, at most 1,000 at a time, so that millions of resources
-- leave nothing: the floor, raised first, replaces them.
-- Returns how many it forgot.
local time = redis.call('time')
local horizon = time[1] * 1000000 + time[2] - 172800000000
local floor = tonumber(redis.call('zscore', keys.numbers, ''))
-- Without a floor, the memory of numbers is new, and fence.lua gives it one.
if not floor then
  return 0
end
if floor < horizon then
  floor = horizon
  redis.call('zadd', keys.numbers, string.format('%.0f', floor), '',
    'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
end
local past = redis.call('zrangebyscore', keys.numbers, '-inf', string.format('(%.0f', floor),
  'LIMIT', 0, 1000)
if #past > 0 then
  redis.call('zrem', keys.numbers, unpack(past))
end
return #past
