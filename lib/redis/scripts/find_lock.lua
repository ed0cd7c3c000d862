-- ARGV: cursor, longest expiry of a lock in milliseconds, and how our own keys begin.
-- {next cursor}, or {next cursor, key, PTTL} with one that can be a lock: a string that expires so soon, or
-- later with one of our tokens or as what is left of an interval, or holds.
local function can_be_a_lock(key, left)
  local kind = redis.call('type', key).ok
  if kind == 'zset' then
    local first = redis.call('zrange', key, 0, 0, 'withscores')
    return first[2] == '0' and string.sub(first[1], 1, 6) == 'group:'
  end
  if kind ~= 'string' then
    return false
  end
  if left <= tonumber(ARGV[2]) then
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

local page = redis.call('scan', ARGV[1], 'COUNT', 1000)
for _, key in ipairs(page[2]) do
  local ours = string.sub(key, 1, #ARGV[3]) == ARGV[3]
  local left = ours and -1 or redis.call('pttl', key)
  if left > 0 and can_be_a_lock(key, left) then
    return {page[1], key, left}
  end
end
return {page[1]}
