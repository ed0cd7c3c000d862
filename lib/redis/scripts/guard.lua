-- KEYS: marker, quarantine, numbers. ARGV: run_id, number of nodes, max TTL and quarantine in
-- milliseconds, '1' if a node that restarted with its data keeps its vote.
-- {quarantine left in milliseconds, or 0; why}, or {-1, nodes, max TTL} of another deployment.
local marker = redis.call('get', KEYS[1])
local run_id, nodes, longest = nil, nil, nil
if marker then
  run_id, nodes, longest = string.match(marker, '^(%S+) (%d+) (%d+)$')
end
if run_id and (nodes ~= ARGV[2] or longest ~= ARGV[3]) then
  return {-1, tonumber(nodes), tonumber(longest)}
end
if run_id ~= ARGV[1] then
  if not (run_id and ARGV[5] == '1') then
    -- First, so that a failure in between leaves no marker without it.
    local left = redis.call('pttl', KEYS[2])
    if left < tonumber(ARGV[4]) and left ~= -1 then
      redis.call('set', KEYS[2], run_id and 'restarted' or 'empty', 'PX', ARGV[4])
    end
    -- Numbers may have been forgotten too: their floor is this node's clock at the quarantine's
    -- end (see fence.lua). A floor only rises.
    local time = redis.call('time')
    local floor = time[1] * 1000000 + time[2] + ARGV[4] * 1000
    if floor > (tonumber(redis.call('zscore', KEYS[3], '')) or 0) then
      redis.call('zadd', KEYS[3], string.format('%.0f', floor), '',
        'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
    end
  end
  redis.call('set', KEYS[1], ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
end
local left = redis.call('pttl', KEYS[2])
if left == -2 then
  return {0, ''}
end
return {left == -1 and tonumber(ARGV[4]) or left, redis.call('get', KEYS[2]) or ''}
