-- KEYS: resource. ARGV: token that an operator has just deleted, the name of the operator's client, and for how many
-- milliseconds to remember it. The last eight are kept: member "TOKEN NAME", each text behind its length, scored with
-- the millisecond by this node's clock.
local audit = 'redlock:node:audit:' .. KEYS[1]
local time = redis.call('time')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('zadd', audit, now, #ARGV[1] .. ':' .. ARGV[1] .. #ARGV[2] .. ':' .. ARGV[2])
for _, older in ipairs(redis.call('zrange', audit, 0, -9)) do
  redis.call('zrem', audit, older)
end
redis.call('pexpire', audit, ARGV[3])
return 1
