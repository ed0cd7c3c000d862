-- keys: resources...
-- args: longest_ms, token_bytes
-- Describes resources. No lock lives longer than `longest_ms`, and no token is longer than `token_bytes`.
-- Returns one text, with six parts for each resource, each after its length: how many clients are queued, the kind, a
-- text, milliseconds that are left, how many holds, the name of a token's holder ('': not known). The kind is 'none',
-- 'token' (the text is the token), 'holds' (the text is their group), 'reserved' for clients that were queued, or
-- 'unreadable'.
-- with: shapes
-- with: names
-- with: delays
local function count_queued(key)
  local queue = 'redlock:node:queue:' .. key
  local members = redis.call('zcard', queue)
  return redis.call('zscore', queue, '') and members - 1 or members
end

local function read_holds(key, left, queued)
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local first = redis.call('zrange', key, 0, 0)[1]
  local holds = redis.call('zcount', key, string.format('(%.0f', now), '+inf')
  local reserved = 0
  for _, member in ipairs({'writer', 'next'}) do
    local ends = tonumber(redis.call('zscore', key, member))
    if ends and ends > now then
      holds = holds - 1
      reserved = member == 'next' and ends - now or 0
    end
  end
  local keeper, ends = read_delay(key, now)
  if keeper and holds == 1 then
    return {queued, 'token', keeper, ends - now, 0, name_of(client_of(keeper))}
  elseif holds == 0 then
    return {queued, reserved > 0 and 'reserved' or 'none', '', reserved, 0, ''}
  end
  -- The last lease may end before the key: "writer", "next" and the hold of a delay are members too.
  local delay = keeper and 'hold:' .. keeper
  for rank = 0, 3 do
    local last = redis.call('zrevrange', key, rank, rank, 'withscores')
    if last[1] and string.sub(last[1], 1, 5) == 'hold:' and last[1] ~= delay then
      left = last[2] - now
      break
    end
  end
  return {queued, 'holds', string.sub(first, 7, 135), left, holds - (keeper and 1 or 0), ''}
end

local function read_lock(key)
  local left = redis.pcall('pttl', key)
  if type(left) ~= 'number' then
    -- The user has no right to the key.
    return {0, 'unreadable', '', 0, 0, ''}
  end
  local queued = count_queued(key)
  if left <= 0 or not can_be_a_lock(key, left, args.longest_ms) then
    return {queued, 'none', '', 0, 0, ''}
  end
  if redis.call('type', key).ok == 'zset' then
    return read_holds(key, left, queued)
  end
  -- A string that is empty, or longer than a token, is somebody's data.
  local size = redis.call('strlen', key)
  if size == 0 or size > tonumber(args.token_bytes) then
    return {queued, 'none', '', 0, 0, ''}
  end
  local text = redis.call('get', key)
  if string.sub(text, 1, 13) == 'redlock:next:' then
    return {queued, 'reserved', '', left, 0, ''}
  end
  return {queued, 'token', text, left, 0, name_of(client_of(text))}
end

local values = {}
for _, key in ipairs(keys.resources) do
  for _, value in ipairs(read_lock(key)) do
    local text = type(value) == 'number' and string.format('%.0f', value) or value
    values[#values + 1] = #text .. ':' .. text
  end
end
return table.concat(values)
