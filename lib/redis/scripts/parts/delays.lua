-- The keeper during a delay (see holds.lua), and when the delay ends; nil: there is none. Removes nothing.
local function read_delay(key, now)
  local member = redis.call('zrange', key, 1, 1)[1]
  local keeper = member and string.match(member, '^keeper:(.*)')
  local ends = keeper and tonumber(redis.call('zscore', key, 'hold:' .. keeper))
  if ends and ends > now then
    return keeper, ends
  end
end
