-- keys: resource
-- args: token, delay_ms, keeper
-- An operator breaks the lock of the token: compare and set. `keeper`, a token of the operator's client, keeps
-- everybody out for `delay_ms`, as a lease that nobody renews would. A delay that lasts longer is not shortened.
-- Returns 1: replaced; 0: nothing is there, and nobody is kept out; -1: not that token. If there are or were holds:
-- {the same number, holds that are left}; these stay, and no hold is added during the delay.
local call, key = redis.call, keys.resource
-- with: waiters
local function keep_everybody_out(milliseconds)
  call('set', key, args.keeper, 'PX', string.format('%.0f', milliseconds))
  -- Waiters read the delay from the key, which is not passed on.
  if is_awaited() then
    notify(key)
  end
end

local value = redis.pcall('get', key)
if value == args.token then
  -- with: names
  -- The token of a delay has zeros in place of random digits. Breaking a delay does not shorten it.
  local is_delay = client_of(value) ~= '' and string.match(value, '^0+', 17) == string.rep('0', 24)
  keep_everybody_out(math.max(args.delay_ms, is_delay and call('pttl', key) or 0))
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
local whose, holds, _, _, keeper = read_holds(key, now)
if not whose then
  return -1
end
local before = keeper and tonumber(call('zscore', key, 'hold:' .. keeper)) or 0
if call('zrem', key, 'hold:' .. args.token) == 0 then
  return {holds == 0 and 0 or -1, leases_of(holds, keeper)}
end
local left = leases_of(holds - 1, keeper ~= args.token and keeper)
local ends = math.max(now + args.delay_ms, before)
if left == 0 then
  keep_everybody_out(ends - now)
else
  if keeper then
    call('zrem', key, 'keeper:' .. keeper, 'hold:' .. keeper)
  end
  call('zadd', key, 0, 'keeper:' .. args.keeper, string.format('%.0f', ends), 'hold:' .. args.keeper)
  expire_with_last(key)
end
return {1, left}
