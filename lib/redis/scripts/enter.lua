-- keys: resource
-- args: token, ttl_ms, group, client, writer_reservation_ms, reservation_ms
-- Takes a hold of the group. `client` is the id of a waiting client, or ''; a resource that is reserved for the client
-- is free for it. If another group has holds, new holds of that group are refused for `writer_reservation_ms`. A free
-- resource is reserved for the first client in its queue for `reservation_ms`.
-- Returns {1, holds of the group, ours included}; {-1, holder, milliseconds until its lease ends}.
-- with: holds
local key, group = keys.resource, args.group
local kind = redis.call('type', key).ok
if kind == 'string' then
  local value = redis.call('get', key)
  if args.client == '' or value ~= 'redlock:next:' .. args.client then
    return {-1, value, redis.call('pttl', key)}
  end
  redis.call('del', key)
  kind = 'none'
end

-- Whether the owner has a hold that is older than the other client's wait.
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
  local whose, holds, writer, reserved, keeper
  if kind == 'zset' then
    whose, holds, writer, reserved, keeper = read_holds(key, now)
  end
  if not whose then
    return {-1, '', redis.call('pttl', key)}
  end
  if whose ~= group and (holds > 0 or reserved) then
    if args.writer_reservation_ms ~= '0' then
      refuse_new_holds(key, whose, now, args.writer_reservation_ms)
    end
    return {-1, whose, held_for(key, now)}
  elseif keeper then
    return {-1, keeper, redis.call('zscore', key, 'hold:' .. keeper) - now}
  end
  local admitted = reserved and args.client ~= '' and admit(key, args.client)
  -- New holds could make the waiting client wait for ever.
  local kept_out = writer and not admitted and (group == 'shared' or whose ~= group or not has_older_hold())
  local first = admitted and redis.call('zrange', 'redlock:node:queue:' .. key, 0, 0)[1]
  if kept_out or (first and string.sub(first, 1, 1) == '~') then
    -- with: waiters
    if not kept_out then
      -- More readers were queued than were let in with this one.
      let_in_readers(key, args.reservation_ms)
    else
      local left = held_for(key, now)
      if left <= 0 and args.client ~= '' then
        stand_by(key, (group == 'shared' and '~' or '') .. args.client)
        pass_on(key, args.reservation_ms)
      end
      return {-1, 'writer', left > 0 and math.min(left, writer - now) or writer - now}
    end
  end
end
share(key, group, args.token, now + args.ttl_ms)
local _, holds = read_holds(key, now)
return {1, holds}
