-- KEYS: marker, quarantine, fence. ARGV: what the marker says.
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]
-- Numbers only ever rise, also over an opening: see fence.lua.
local floor = string.format('%.0f', math.max(
  tonumber(redis.call('hget', KEYS[3], 'new') or 0) or 0, now))
redis.call('hset', KEYS[3], 'old', floor, 'mid', floor, 'new', floor, 'at', string.format('%.0f', now),
  'due', '0')
redis.call('set', KEYS[1], ARGV[1])
-- Last, so that a failure in between leaves the node without a vote.
redis.call('del', KEYS[2])
return 1
