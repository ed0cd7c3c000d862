-- keys: marker, reign, quarantine, numbers
-- args: expected_marker, expected_reign, head, attachments, confirmed, quarantine_ms
-- Writes the record of a reign: compare and set, see lib/core/membership/reign.hpp. The marker and the record must be
-- the expected ones, word for word ('': none). `head` is the record's first words. `confirmed` is the time at which the
-- reign was confirmed; '': it is now, and a quarantine of `quarantine_ms` begins, which covers the leases of the reign
-- before: why it began is 'first' if there was no record, 'broken' if it was this primary's, or else 'reign'.
-- Returns 1 if the record was written.
-- with: floor
local marker, reign = redis.call('get', keys.marker), redis.call('get', keys.reign)
if (marker or '') ~= args.expected_marker or (reign or '') ~= args.expected_reign then
  return 0
end
local confirmed = args.confirmed
if confirmed == '' then
  local time = redis.call('time')
  local now = time[1] * 1000000 + time[2]
  local quarantine = tonumber(args.quarantine_ms)
  -- The record comes last, so that a failure in between leaves no reign without its quarantine.
  local left = redis.call('pttl', keys.quarantine)
  if left ~= -1 and left <= quarantine then
    local why = 'first'
    if reign then
      why = string.sub(reign, 1, #args.head + 1) == args.head .. ' ' and 'broken' or 'reign'
    end
    redis.call('set', keys.quarantine, why, 'PX', string.format('%.0f', quarantine))
  end
  raise_floor(keys.numbers, now + quarantine * 1000)
  confirmed = string.format('%.0f', now)
end
redis.call('set', keys.reign, table.concat({args.head, confirmed, args.attachments}, ' '))
return 1
