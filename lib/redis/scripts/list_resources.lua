-- keys: none
-- args: cursor, count, pattern, longest_ms, own_prefix, queue_prefix, wanted
-- Lists resources among the next `count` keys: keys that can be locks, and resources for which clients are queued. No
-- lock lives longer than `longest_ms`. `own_prefix` is the beginning of our own keys, `queue_prefix` that of the keys
-- of queues. `wanted` is 'locks', 'queues' or 'both'.
-- Returns {next cursor, how many keys could not be read, how many resources did not fit, the resources, each after its
-- length}.
-- with: shapes
local ours, queue, wanted = args.own_prefix, args.queue_prefix, args.wanted
local page = redis.call('scan', args.cursor, 'COUNT', args.count, 'MATCH', args.pattern)
local unread, omitted, room, resources = 0, 0, 786432, {}

local function add(resource)
  -- No resource's name is longer.
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
    elseif left > 0 and can_be_a_lock(key, left, args.longest_ms) then
      add(key)
    end
  end
end
return {page[1], unread, omitted, table.concat(resources)}
