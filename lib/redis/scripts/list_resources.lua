-- ARGV: cursor, how many keys to go through, a pattern, longest expiry of a lock in milliseconds, how our own keys begin,
-- how those of queues begin, and what is wanted: 'locks', 'queues' or 'both'.
-- {next cursor, how many keys could not be read, how many did not fit, resources, each behind its length}: those of keys
-- that can be locks, and those for which clients are queued.
-- with: shapes
local ours, queue, wanted = ARGV[5], ARGV[6], ARGV[7]
local page = redis.call('scan', ARGV[1], 'COUNT', ARGV[2], 'MATCH', ARGV[3])
local unread, omitted, room, resources = 0, 0, 786432, {}

local function add(resource)
  -- No resource is longer.
  if #resource > 8192 then
    return
  end
  room = room - #resource - 16
  if room < 0 then
    omitted = omitted + 1
  else
    resources[#resources + 1] = #resource .. ':' .. resource
  end
end

for _, key in ipairs(page[2]) do
  if string.sub(key, 1, #queue) == queue then
    if wanted ~= 'locks' then
      add(string.sub(key, #queue + 1))
    end
  elseif wanted ~= 'queues' and string.sub(key, 1, #ours) ~= ours then
    local left = redis.pcall('pttl', key)
    if type(left) ~= 'number' then
      -- The user has no right to the key.
      unread = unread + 1
    elseif left > 0 and can_be_a_lock(key, left, ARGV[4]) then
      add(key)
    end
  end
end
return {page[1], unread, omitted, table.concat(resources)}
