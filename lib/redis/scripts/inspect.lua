-- KEYS: resource, numbers, quarantine. ARGV: a token, or ''.
-- {value, or false where there is no string, PTTL, type, number, PTTL of the quarantine}: all of one
-- instant, which commands of their own would not be; of holds also {…, texts, how many, 1 if the token is
-- one of them}. The texts are the group and, where no token was asked about, the tokens of the 256 holds that
-- end first, each behind its length; a text longer than a token is cut to a length that no token has. GET is asked
-- only of a string, so that it cannot raise.
local key = KEYS[1]
local kind = redis.call('type', key).ok
local number = redis.pcall('zscore', KEYS[2], key)
number = type(number) == 'string' and math.min(tonumber(number), 9007199254740991) or 0
local left = redis.call('pttl', key)
local quarantine = redis.call('pttl', KEYS[3])
if kind == 'string' then
  return {redis.call('get', key), left, kind, number, quarantine}
end
if kind == 'zset' then
  local first = redis.call('zrange', key, 0, 0, 'withscores')
  if first[2] == '0' and string.sub(first[1], 1, 6) == 'group:' then
    local time = redis.call('time')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local later = string.format('(%.0f', now)
    local holds = redis.call('zcount', key, later, '+inf')
    local writer = tonumber(redis.call('zscore', key, 'writer'))
    if writer and writer > now then
      holds = holds - 1
    end
    local reserved = tonumber(redis.call('zscore', key, 'next'))
    if reserved and reserved > now then
      holds = holds - 1
    end
    local mine = tonumber(redis.call('zscore', key, 'hold:' .. ARGV[1]))
    local function with_length(text)
      return #text .. ':' .. text
    end
    local texts = {with_length(string.sub(first[1], 7, 135))}
    if ARGV[1] == '' then
      for _, member in ipairs(redis.call('zrangebyscore', key, later, '+inf', 'limit', 0, 257)) do
        if string.sub(member, 1, 5) == 'hold:' and #texts <= 256 then
          texts[#texts + 1] = with_length(string.sub(member, 6, 134))
        end
      end
    end
    return {false, left, kind, number, quarantine, table.concat(texts), holds,
      mine and mine > now and 1 or 0}
  end
end
return {false, left, kind, number, quarantine}
