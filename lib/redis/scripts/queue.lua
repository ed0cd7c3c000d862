-- KEYS: resource. ARGV: the waiting client's id, for how many milliseconds to remember it, and where it is
-- queued: '0' behind all others, unless it is queued already; '1' behind all others, because a waiting writer
-- keeps it out; '2' ahead of all others, but behind those that are there for the same reason: a writer that
-- keeps readers out.
-- 1: wait for a notification; 0: try again, the resource has no holder whose release would notify.
local call = redis.call
local queue = 'redlock:node:queue:' .. KEYS[1]
local score = tonumber(call('zscore', queue, ARGV[1]))
if ARGV[3] == '2' then
  if not score or score > 0 then
    local ahead = call('zcount', queue, '-inf', '(0')
    local last = ahead > 0 and call('zrange', queue, ahead - 1, ahead - 1, 'withscores')[2]
    call('zadd', queue, (tonumber(last) or -4503599627370496) + 1, ARGV[1])
  end
elseif ARGV[3] == '1' or not score then
  local last = tonumber(call('zrevrange', queue, 0, 0, 'withscores')[2]) or 0
  call('zadd', queue, math.max(last, 0) + 1, ARGV[1])
end
call('pexpire', queue, ARGV[2])
call('set', 'redlock:node:waiters', '', 'PX', ARGV[2])
call('set', 'redlock:node:awaited', '', 'PX', ARGV[2])
-- with: holds
-- with: holder
local has_holder, reserved = find_holder(KEYS[1])
return (has_holder or (reserved and ARGV[3] == '1')) and 1 or 0
