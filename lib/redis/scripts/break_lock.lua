-- keys: resource
-- args: token, delay_ms, keeper
-- An operator breaks the lock of the token: compare and set. `keeper`, a token of the operator's client, keeps
-- everybody out for `delay_ms`, as a lease that nobody renews would.
-- Returns 1: replaced; 0: nothing is there, and nobody is kept out; -1: not that token. If there are or were holds:
-- {the same number, holds that are left}; new holds are then refused for `delay_ms`, until the last hold is broken too.
local call, key = redis.call, keys.resource
-- with: waiters
local function keep_everybody_out()
  call('set', key, args.keeper, 'PX', args.delay_ms)
  -- Waiters read the delay from the key, which is not passed on.
  if is_awaited() then
    notify(key)
  end
end

local value = redis.pcall('get', key)
if value == args.token then
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
elseif call('zrem', key, 'hold:' .. args.token) == 0 then
  return {holds == 0 and 0 or -1, holds}
elseif holds > 1 then
  refuse_new_holds(key, whose, now, args.delay_ms)
else
  keep_everybody_out()
end
return {1, holds - 1}
