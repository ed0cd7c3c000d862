-- keys: none
-- args: cursor, pattern, longest_ms, own_prefix
-- Searches a page of keys that match `pattern` for one that can be a lock. No lock lives longer than `longest_ms`, and
-- no resource begins with `own_prefix`.
-- Returns {next cursor}, or {next cursor, key, PTTL} with a key that can be a lock.
-- with: shapes
local page = redis.call('scan', args.cursor, 'MATCH', args.pattern, 'COUNT', 1000)
for _, key in ipairs(page[2]) do
  local ours = string.sub(key, 1, #args.own_prefix) == args.own_prefix
  local left = ours and -1 or redis.call('pttl', key)
  if left > 0 and can_be_a_lock(key, left, args.longest_ms) then
    return {page[1], key, left}
  end
end
return {page[1]}
