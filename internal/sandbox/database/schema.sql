-- The sandbox's own state. Times are Unix milliseconds, UTC. "lid:device" names
-- a device, device 0 being the phone.

CREATE TABLE IF NOT EXISTS meta (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS accounts (
  number       TEXT PRIMARY KEY, -- canonical digits
  lid          TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  about        TEXT NOT NULL DEFAULT '',
  registered   INTEGER NOT NULL,
  online       INTEGER NOT NULL,
  keys         BLOB NOT NULL,              -- the phone's Signal keys
  banned_until INTEGER NOT NULL DEFAULT 0, -- 0: not banned, -1: for good
  next_device  INTEGER NOT NULL DEFAULT 1,
  app_key      BLOB,                       -- app state, from the first linking on
  app_state    BLOB,
  created_at   INTEGER NOT NULL,
  picture      TEXT NOT NULL DEFAULT '',   -- the profile picture: the hash of its file
  number_hidden    INTEGER NOT NULL DEFAULT 0, -- the phone's stanzas do not name its number
  restricted_until INTEGER NOT NULL DEFAULT 0, -- until then it may not write to new contacts
  history          TEXT NOT NULL DEFAULT '',   -- JSON: made-up messages for devices that are linked; '' for none
  passkey          TEXT NOT NULL DEFAULT '',   -- JSON: how it asks for a passkey when a device is linked; '' if it does not
  privacy          TEXT NOT NULL DEFAULT '',   -- JSON: what it lets others see and do; '' if it has chosen nothing
  business         TEXT NOT NULL DEFAULT '',   -- JSON: what it says of itself as a business; '' if it is none
  username         TEXT NOT NULL DEFAULT ''    -- by which others find it without its number; '' for none
) STRICT;

CREATE TABLE IF NOT EXISTS passkeys (
  id     BLOB PRIMARY KEY,
  number TEXT NOT NULL REFERENCES accounts (number),
  value  TEXT NOT NULL -- JSON: its public key and counter, and how the phone's own signs
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS devices (
  number       TEXT NOT NULL REFERENCES accounts (number),
  device       INTEGER NOT NULL,
  noise        BLOB NOT NULL,
  identity     BLOB NOT NULL,
  registration INTEGER NOT NULL,
  skey_id      INTEGER NOT NULL,
  skey_public  BLOB NOT NULL,
  skey_sig     BLOB NOT NULL,
  key_index    INTEGER NOT NULL,
  bootstrapped INTEGER NOT NULL DEFAULT 0, -- the phone has sent what a new device needs
  created_at   INTEGER NOT NULL,
  name         TEXT NOT NULL DEFAULT '',   -- what the phone shows of it
  kind         TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (number, device)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS prekeys (
  number TEXT NOT NULL,
  device INTEGER NOT NULL,
  id     INTEGER NOT NULL,
  public BLOB NOT NULL,
  PRIMARY KEY (number, device, id),
  FOREIGN KEY (number, device) REFERENCES devices (number, device) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The stanzas that a linked device has not acknowledged yet.
CREATE TABLE IF NOT EXISTS outbox (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  number TEXT NOT NULL,
  device INTEGER NOT NULL,
  class  TEXT NOT NULL, -- message, receipt, notification or call
  id     TEXT NOT NULL,
  stanza BLOB NOT NULL,
  FOREIGN KEY (number, device) REFERENCES devices (number, device) ON DELETE CASCADE
) STRICT;
CREATE INDEX IF NOT EXISTS outbox_device ON outbox (number, device, seq);

-- The stanzas that a phone has not handled yet.
CREATE TABLE IF NOT EXISTS mailbox (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  number TEXT NOT NULL REFERENCES accounts (number),
  stanza BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS mailbox_number ON mailbox (number, seq);

-- The messages that linked devices have sent. A second frame with the same ID is a
-- repetition.
CREATE TABLE IF NOT EXISTS sent (
  sender  TEXT NOT NULL,    -- lid:device
  id      TEXT NOT NULL,
  address TEXT NOT NULL,    -- the JID it was sent to, in the sender's form
  targets TEXT NOT NULL,    -- devices that have got it, separated by blanks
  at      INTEGER NOT NULL,
  PRIMARY KEY (sender, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sent_at ON sent (at);

-- The devices that have asked a sender to encrypt a message for them again.
CREATE TABLE IF NOT EXISTS retries (
  sender TEXT NOT NULL,
  id     TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (sender, id, target)
) STRICT, WITHOUT ROWID;

-- The phones' Signal records.
CREATE TABLE IF NOT EXISTS records (
  number TEXT NOT NULL REFERENCES accounts (number),
  kind   TEXT NOT NULL,
  key    TEXT NOT NULL,
  value  BLOB NOT NULL,
  PRIMARY KEY (number, kind, key)
) STRICT, WITHOUT ROWID;

-- The messages that phones show.
CREATE TABLE IF NOT EXISTS messages (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  number    TEXT NOT NULL REFERENCES accounts (number),
  chat      TEXT NOT NULL,              -- a JID, people by number
  sender    TEXT NOT NULL,              -- a JID by number
  device    TEXT NOT NULL,              -- lid:device that sent it
  address   TEXT NOT NULL DEFAULT '',   -- the JID the sender wrote to: receipts come from it
  id        TEXT NOT NULL,
  from_me   INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  payload   BLOB NOT NULL,              -- waE2E.Message
  status    INTEGER NOT NULL,
  edited    INTEGER NOT NULL DEFAULT 0,
  deleted   INTEGER NOT NULL DEFAULT 0,
  reactions TEXT NOT NULL DEFAULT '{}', -- JSON, from JID to emoji
  votes TEXT NOT NULL DEFAULT '{}', -- JSON, from JID to the options of a poll
  pinned_until INTEGER NOT NULL DEFAULT 0, -- 0: it is not pinned
  starred   INTEGER NOT NULL DEFAULT 0,
  read_due  INTEGER NOT NULL DEFAULT 0, -- when the phone reads it by itself; 0: it does not
  -- The decrypted file; '' if there is none. media_forgotten means that the phone
  -- no longer has it.
  media_sha256    TEXT NOT NULL DEFAULT '',
  media_size      INTEGER NOT NULL DEFAULT 0,
  media_forgotten INTEGER NOT NULL DEFAULT 0,
  problems        TEXT NOT NULL DEFAULT '', -- what is wrong with the message, a line each
  UNIQUE (number, id, sender)
) STRICT;
CREATE INDEX IF NOT EXISTS messages_chat ON messages (number, chat, seq);
CREATE INDEX IF NOT EXISTS messages_problems ON messages (seq) WHERE problems <> '';
CREATE INDEX IF NOT EXISTS messages_due ON messages (read_due) WHERE read_due > 0;
CREATE INDEX IF NOT EXISTS messages_unread ON messages (number, chat) WHERE from_me = 0 AND deleted = 0 AND status < 3;

-- What is set in the app states: the newest value of each index, in the order of the
-- changes.
CREATE TABLE IF NOT EXISTS settings (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  number TEXT NOT NULL REFERENCES accounts (number),
  kind   TEXT NOT NULL, -- the first part of the index
  name   TEXT NOT NULL, -- the index: a JSON array
  value  BLOB NOT NULL, -- waSyncAction.SyncActionValue
  UNIQUE (number, kind, name)
) STRICT;

-- After how many seconds new messages disappear in chats with people.
CREATE TABLE IF NOT EXISTS timers (
  number  TEXT NOT NULL REFERENCES accounts (number),
  chat    TEXT NOT NULL, -- a JID by number
  seconds INTEGER NOT NULL,
  PRIMARY KEY (number, chat)
) STRICT, WITHOUT ROWID;

-- Channels, and what their owners write into them.
CREATE TABLE IF NOT EXISTS channels (
  id         TEXT PRIMARY KEY,
  invite     TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  state      TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS channel_posts (
  channel   TEXT NOT NULL REFERENCES channels (id),
  number    INTEGER NOT NULL,           -- in its channel, from 1
  id        TEXT NOT NULL,
  at        INTEGER NOT NULL,           -- Unix seconds
  kind      TEXT NOT NULL,
  payload   BLOB,                       -- waE2E.Message; NULL: it was deleted
  reactions TEXT NOT NULL DEFAULT '{}', -- JSON, from number to emoji
  PRIMARY KEY (channel, number),
  UNIQUE (channel, id)
) STRICT, WITHOUT ROWID;

-- Receipts that came before the phone's own copy of the message.
CREATE TABLE IF NOT EXISTS early_receipts (
  number TEXT NOT NULL,
  id     TEXT NOT NULL,
  status INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (number, id)
) STRICT, WITHOUT ROWID;

-- The devices that have asked for an account's device list, and are notified of
-- its changes.
CREATE TABLE IF NOT EXISTS observers (
  number   TEXT NOT NULL REFERENCES accounts (number),
  observer TEXT NOT NULL,
  device   INTEGER NOT NULL,
  PRIMARY KEY (number, observer, device),
  FOREIGN KEY (observer, device) REFERENCES devices (number, device) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Sent reactions, edits and deletions, in case a device could not decrypt them and
-- asks for them again.
CREATE TABLE IF NOT EXISTS changes (
  number  TEXT NOT NULL REFERENCES accounts (number),
  id      TEXT NOT NULL,
  chat    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  payload BLOB NOT NULL, -- waE2E.Message
  PRIMARY KEY (number, id)
) STRICT, WITHOUT ROWID;

-- The accounts that an account has blocked.
CREATE TABLE IF NOT EXISTS blocks (
  number  TEXT NOT NULL REFERENCES accounts (number),
  blocked TEXT NOT NULL REFERENCES accounts (number),
  PRIMARY KEY (number, blocked)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS groups (
  id         TEXT PRIMARY KEY, -- the user part of its JID
  invite     TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  state      TEXT NOT NULL     -- JSON: the whole group with its members
) STRICT;

-- The members of groups, to find the groups of an account.
CREATE TABLE IF NOT EXISTS members (
  number   TEXT NOT NULL REFERENCES accounts (number),
  group_id TEXT NOT NULL REFERENCES groups (id),
  PRIMARY KEY (number, group_id)
) STRICT, WITHOUT ROWID;

-- The accounts that nobody may add to a group.
CREATE TABLE IF NOT EXISTS not_addable (
  number TEXT PRIMARY KEY REFERENCES accounts (number)
) STRICT, WITHOUT ROWID;

-- The devices that have the key with which a phone writes to a group.
CREATE TABLE IF NOT EXISTS distributed (
  number   TEXT NOT NULL REFERENCES accounts (number), -- the phone
  group_id TEXT NOT NULL,
  target   TEXT NOT NULL, -- lid:device
  PRIMARY KEY (number, group_id, target)
) STRICT, WITHOUT ROWID;
