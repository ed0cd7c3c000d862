-- keys: resource
-- args: client, remember_ms, mode, ticket, reservation_ms
-- Queues a waiting client, and remembers it for `remember_ms`. A free resource is reserved for the first client in its
-- queue, for `reservation_ms`. The ticket '0' is a new one.
-- The mode is '0': by its ticket, or as it is queued already; '1': after all others. '2' and '3' are '0' and '1' for a
-- client that needs several resources; '4' and '5' are '0' and '1' for a reader. '6' is '0' for any permit of a
-- semaphore: `resource` is then the beginning of the permits' names, not a key.
-- Returns {1, ticket, 1 if it is first}: wait for a notification; {0, ...}: try again, the resource has no holder
-- whose release would notify.
local call = redis.call
local key, where = keys.resource, tonumber(args.mode)
local behind, any = where % 2 == 1, where >= 6
local forms = {args.client, '~' .. args.client}
local client = table.remove(forms, where >= 4 and not any and 2 or 1)
local queue = 'redlock:node:queue:' .. key
-- with: tickets
local was_first = where >= 4 and not any and call('zrange', queue, 0, 0)[1] == args.client
call('zrem', queue, behind and client or forms[1], unpack(forms))
local is_new = any and not call('zscore', queue, client)
local ticket = enqueue(key, client, behind and '0' or args.ticket, args.remember_ms)
if any then
  -- A permit may have become free before the client was queued: the client tries once more.
  return {is_new and 0 or 1, ticket, first_in_queue(key) == client and 1 or 0}
end
-- The usual case comes before the functions, which cost the node time to define.
local holder = redis.pcall('get', key)
if type(holder) == 'string' and holder ~= 'redlock:cooldown' then
  local next = (where == 2 or where == 3) and string.match(holder, '^redlock:next:(.*)')
  if next and call('zscore', queue, next) and first_in_queue(key) ~= next then
    -- Reserved for a client that needs other resources too, and was queued again. If nodes reserved it for different
    -- clients, all nodes pass it on to the client that has waited longest.
    -- with: waiters
    call('del', key)
    pass_on(key, args.reservation_ms)
  end
  return {1, ticket, first_in_queue(key) == client and 1 or 0}
end

-- with: waiters
-- with: holds
-- with: holder
if was_first and is_for_readers(key) then
  -- The client was queued as a writer, and the node refused new readers for it (see leave.lua).
  call('zrem', key, 'writer')
end
local has_holder, reserved = find_holder(key)
if not has_holder and call('type', key).ok ~= 'string' and pass_on(key, args.reservation_ms) then
  has_holder, reserved = find_holder(key)
elseif has_holder and where >= 4 and not reserved and is_for_readers(key) then
  -- Readers were let in after this one was refused; they would notify it only when they release.
  let_in_readers(key, args.reservation_ms)
end
return {(has_holder or (reserved and where >= 4)) and 1 or 0, ticket, first_in_queue(key) == client and 1 or 0}
