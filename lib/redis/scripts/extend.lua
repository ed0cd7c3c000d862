-- KEYS: resources. ARGV: token, TTL in milliseconds, and how a node that lost them gets them back: ''
-- not at all, 'key' as keys of their own, else as a hold of the group of that name.
-- 1: ours, and they now live at least that long; {1, holds}: the same of a hold; 2: something was gone
-- and is ours again; 0: gone; -1: not ours.
local call = redis.call

-- Only ever raised: a late short extend must not undo a longer one, and -1 (no expiry) is longer
-- than any. Compared here because PEXPIRE ... GT exists from Redis 7.0 only.
local function raise(key)
  local left = call('pttl', key)
  if left ~= -1 and left < tonumber(ARGV[2]) then
    call('pexpire', key, ARGV[2])
  end
end

-- The usual case, ahead of functions that cost the node time to define.
if #KEYS == 1 and redis.pcall('get', KEYS[1]) == ARGV[1] then
  raise(KEYS[1])
  return 1
end

-- with: holds
local holding, gone = nil, {}
for i = 1, #KEYS do
  local key = KEYS[i]
  local value = redis.pcall('get', key)
  if not value then
    gone[#gone + 1] = key
  elseif value ~= ARGV[1] then
    -- A key of another type is somebody else's; every other error must reach the caller word for word.
    if type(value) ~= 'table' then
      return -1
    elseif not string.find(value.err, 'WRONGTYPE', 1, true) then
      return value
    elseif call('type', key).ok ~= 'zset' then
      return -1
    end
    local now = milliseconds()
    local whose, holds, writer, reserved = read_holds(key, now)
    if not whose then
      return -1
    elseif #KEYS == 1 and call('zscore', key, 'hold:' .. ARGV[1]) then
      holding = holds
    elseif whose ~= ARGV[3] and (holds > 0 or reserved) then
      return -1
    elseif writer and ARGV[3] == 'shared' then
      -- The hold may return once the writer has had the resource.
      return 0
    else
      gone[#gone + 1] = key
    end
  end
end
if #gone > 0 and ARGV[3] == '' then
  return 0
end
if holding then
  local ends = milliseconds() + ARGV[2]
  if tonumber(call('zscore', KEYS[1], 'hold:' .. ARGV[1])) < ends then
    call('zadd', KEYS[1], string.format('%.0f', ends), 'hold:' .. ARGV[1])
    expire_with_last(KEYS[1])
  end
  return {1, holding}
end
for _, key in ipairs(gone) do
  if ARGV[3] == 'key' then
    call('set', key, ARGV[1], 'PX', ARGV[2])
  else
    share(key, ARGV[3], ARGV[1], milliseconds() + ARGV[2])
  end
end
for i = 1, #KEYS do
  raise(KEYS[i])
end
return #gone > 0 and 2 or 1
