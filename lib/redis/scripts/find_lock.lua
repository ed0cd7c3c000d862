-- ARGV: cursor, longest expiry of a lock in milliseconds, and how our own keys begin.
-- {next cursor}, or {next cursor, key, PTTL} with one that can be a lock.
-- with: shapes
local page = redis.call('scan', ARGV[1], 'COUNT', 1000)
for _, key in ipairs(page[2]) do
  local ours = string.sub(key, 1, #ARGV[3]) == ARGV[3]
  local left = ours and -1 or redis.call('pttl', key)
  if left > 0 and can_be_a_lock(key, left, ARGV[2]) then
    return {page[1], key, left}
  end
end
return {page[1]}
