-- Whether a key with an expiry can be a lock: holds; a string that expires within `longest` milliseconds; or a string
-- that expires later and is one of our tokens or the rest of an interval.
local function can_be_a_lock(key, left, longest)
  local kind = redis.call('type', key).ok
  if kind == 'zset' then
    local first = redis.call('zrange', key, 0, 0, 'withscores')
    return first[2] == '0' and string.sub(first[1], 1, 6) == 'group:'
  end
  if kind ~= 'string' then
    return false
  end
  if left <= tonumber(longest) then
    return true
  end
  -- No interval is longer than a year.
  if left > 31536000000 then
    return false
  end
  local value = redis.call('getrange', key, 0, 40)
  if value == 'redlock:cooldown' then
    return true
  end
  return string.match(value, '^%x+:?$') ~= nil and #string.match(value, '^%x+') == 40
end
