-- with: holds
-- KEYS: resource. ARGV: token, TTL in milliseconds, group, the id of a client that waits, or '', for how long new
-- holds of another group are refused while this one waits, and for how long a free resource is reserved for who is first
-- in its queue, both in milliseconds. What is reserved for the client is free for it, and what nobody has is passed on.
-- {1, holds of the group, ours included}; {-1, holder, milliseconds until its lease ends}.
local key, group = KEYS[1], ARGV[3]
local kind = redis.call('type', key).ok
if kind == 'string' then
  local value = redis.call('get', key)
  if ARGV[4] == '' or value ~= 'redlock:next:' .. ARGV[4] then
    return {-1, value, redis.call('pttl', key)}
  end
  redis.call('del', key)
  kind = 'none'
end

-- An owner that has a hold which is older than the wait of somebody else.
local function has_older_hold()
  for _, member in ipairs(redis.call('zrange', 'redlock:node:before:' .. key, 0, -1)) do
    if redis.call('zscore', key, member) then
      return true
    end
  end
  return false
end

local now = milliseconds()
if kind ~= 'none' then
  local whose, holds, writer, reserved
  if kind == 'zset' then
    whose, holds, writer, reserved = read_holds(key, now)
  end
  if not whose then
    return {-1, '', redis.call('pttl', key)}
  end
  if whose ~= group and (holds > 0 or reserved) then
    if ARGV[5] ~= '0' then
      refuse_new_holds(key, whose, now, ARGV[5])
    end
    return {-1, whose, held_for(key, now)}
  end
  local admitted = reserved and ARGV[4] ~= '' and admit(key, ARGV[4])
  -- New holds would make somebody else wait for ever.
  local kept_out = writer and not admitted and (group == 'shared' or whose ~= group or not has_older_hold())
  local first = admitted and redis.call('zrange', 'redlock:node:queue:' .. key, 0, 0)[1]
  if kept_out or (first and string.sub(first, 1, 1) == '~') then
    -- with: waiters
    if not kept_out then
      -- More readers were queued than were let in with this one.
      let_in_readers(key, ARGV[6])
    else
      local left = held_for(key, now)
      if left <= 0 and ARGV[4] ~= '' then
        pass_on(key, ARGV[6])
      end
      return {-1, 'writer', left > 0 and math.min(left, writer - now) or writer - now}
    end
  end
end
share(key, group, ARGV[1], now + ARGV[2])
local _, holds = read_holds(key, now)
return {1, holds}
