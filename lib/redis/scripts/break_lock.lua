-- KEYS: resource. ARGV: token that an operator breaks, for how many milliseconds nobody may have the resource then, and a
-- token of the operator's client that keeps everybody out so long, as a lease that nobody renews would.
-- Compare and set. 1: replaced; 0: there is nothing, and nobody is kept out; -1: not that token; where there are or were
-- holds, the same with their number: {1, holds that are left}. New holds are refused for as long, until the last one is
-- broken as well.
local call, key = redis.call, KEYS[1]
-- with: waiters
local function keep_everybody_out()
  call('set', key, ARGV[3], 'PX', ARGV[2])
  -- Waiters read from the key how long it takes. It is not passed on.
  if is_awaited() then
    notify(key)
  end
end

local value = redis.pcall('get', key)
if value == ARGV[1] then
  keep_everybody_out()
  return 1
elseif not value then
  return 0
elseif type(value) ~= 'table' then
  return -1
elseif not string.find(value.err, 'WRONGTYPE', 1, true) then
  return value
elseif call('type', key).ok ~= 'zset' then
  return -1
end
-- with: holds
local now = milliseconds()
local whose, holds = read_holds(key, now)
if not whose then
  return -1
elseif call('zrem', key, 'hold:' .. ARGV[1]) == 0 then
  return {holds == 0 and 0 or -1, holds}
elseif holds > 1 then
  refuse_new_holds(key, whose, now, ARGV[2])
else
  keep_everybody_out()
end
return {1, holds - 1}
