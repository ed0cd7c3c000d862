-- KEYS: resource. Notifies those that are queued for it, behind a release by a plain command.
-- with: waiters
notify(KEYS[1])
return 0
