-- KEYS: marker, quarantine, numbers. ARGV: the marker that must be there, word for word, or '' for none; the new
-- one, without its time; the quarantine in milliseconds that begins now, 0 to end it, -1 to leave it as it is;
-- why it begins, '' for what it began with, or as a client takes a node back; 'opened' counts only if the node has
-- been in quarantine since it was met without a marker.
-- Compare and set: {1 if the marker was written, the marker that is there now, quarantine left in milliseconds}.
local marker = redis.call('get', KEYS[1]) or ''
local written = 0
if marker == ARGV[1] then
  local time = redis.call('time')
  local now = time[1] * 1000000 + time[2]
  local quarantine = tonumber(ARGV[3])
  -- First, so that a failure in between leaves no marker without it. A quarantine is never made shorter.
  if quarantine > 0 then
    local left = redis.call('pttl', KEYS[2])
    local began = redis.call('get', KEYS[2])
    local why = ARGV[4]
    if why == '' or why == 'opened' and began ~= 'empty' then
      why = began or 'enrolled'
    end
    if left ~= -1 and (left < quarantine or why ~= began) then
      redis.call('set', KEYS[2], why, 'PX', string.format('%.0f', math.max(left, quarantine)))
    end
  end
  -- Fencing numbers may have been forgotten too: their floor is this node's clock at the quarantine's end
  -- (see fence.lua). A floor only rises.
  local floor = now + math.max(quarantine, 0) * 1000
  if quarantine >= 0 and floor > (tonumber(redis.call('zscore', KEYS[3], '')) or 0) then
    redis.call('zadd', KEYS[3], string.format('%.0f', floor), '',
      'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
  end
  marker = ARGV[2] .. ' ' .. string.format('%.0f', now)
  redis.call('set', KEYS[1], marker)
  -- Last, so that a failure in between leaves the node without a vote.
  if quarantine == 0 then
    redis.call('del', KEYS[2])
  end
  written = 1
end
local left = redis.call('pttl', KEYS[2])
return {written, marker, left == -2 and 0 or left}
