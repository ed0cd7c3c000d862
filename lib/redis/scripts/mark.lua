-- keys: marker, quarantine, numbers
-- args: expected, text, quarantine_ms, why
-- Writes the marker: compare and set. The marker must be `expected`, word for word ('': none). `text` is the new marker
-- without its time. `quarantine_ms` begins now; 0 ends the quarantine, -1 leaves it as it is. `why` is the reason for
-- the quarantine. '' keeps the present reason; if there is none, it means 'enrolled': a client takes the node back.
-- 'opened' counts only if the node has been in quarantine since it was met without a marker.
-- Returns {1 if the marker was written, the marker that is there now, quarantine left in milliseconds}.
-- with: floor
local marker = redis.call('get', keys.marker) or ''
local written = 0
if marker == args.expected then
  local time = redis.call('time')
  local now = time[1] * 1000000 + time[2]
  local quarantine = tonumber(args.quarantine_ms)
  -- The quarantine comes first, so that a failure in between leaves no marker without a quarantine. A quarantine is
  -- never made shorter.
  if quarantine > 0 then
    local left = redis.call('pttl', keys.quarantine)
    local began = redis.call('get', keys.quarantine)
    local why = args.why
    if why == '' or why == 'opened' and began ~= 'empty' then
      why = began or 'enrolled'
    end
    if left ~= -1 and (left < quarantine or why ~= began) then
      redis.call('set', keys.quarantine, why, 'PX', string.format('%.0f', math.max(left, quarantine)))
    end
  end
  -- This node's clock at the end of the quarantine.
  if quarantine >= 0 then
    raise_floor(keys.numbers, now + quarantine * 1000)
  end
  marker = args.text .. ' ' .. string.format('%.0f', now)
  redis.call('set', keys.marker, marker)
  -- The quarantine ends last, so that a failure in between leaves the node without a vote.
  if quarantine == 0 then
    redis.call('del', keys.quarantine)
  end
  written = 1
end
local left = redis.call('pttl', keys.quarantine)
return {written, marker, left == -2 and 0 or left}
