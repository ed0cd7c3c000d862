-- keys: resource
-- args: token, name, remember_ms
-- Remembers for `remember_ms` that an operator deleted the token of the resource, with the name of the operator's
-- client. Keeps the last eight entries: members "TOKEN NAME", each text after its length, scored with the millisecond
-- by this node's clock.
-- Returns 1.
local audit = 'redlock:node:audit:' .. keys.resource
local time = redis.call('time')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('zadd', audit, now, #args.token .. ':' .. args.token .. #args.name .. ':' .. args.name)
for _, older in ipairs(redis.call('zrange', audit, 0, -9)) do
  redis.call('zrem', audit, older)
end
redis.call('pexpire', audit, args.remember_ms)
return 1
