-- KEYS: the permit to take. ARGV: token, TTL in milliseconds, how the names of all permits begin, their
-- number, and the id of a client that waits, or ''. {1, ''}: ours; {-1, a digit per permit: 1 where it is free, ms
-- until the next can be}.
-- What is reserved for the client is free for it.
local reservation = 'redlock:next:' .. ARGV[5]
if ARGV[5] ~= '' and redis.pcall('get', KEYS[1]) == reservation then
  redis.call('del', KEYS[1])
end
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return {1, ''}
end
local free, soonest = {}, nil
for i = 1, tonumber(ARGV[4]) do
  local left = redis.call('pttl', ARGV[3] .. (i - 1))
  local free_for_it = left == -2 or (ARGV[5] ~= '' and redis.pcall('get', ARGV[3] .. (i - 1)) == reservation)
  free[i] = free_for_it and '1' or '0'
  if left >= 0 and (not soonest or left < soonest) then
    soonest = left
  end
end
return {-1, table.concat(free), soonest or -1}
