-- People who sign in to the dashboard. name_key is the name in lower case; link_hash is
-- empty if there is no link to set a password.
CREATE TABLE users (
	id TEXT PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	name TEXT NOT NULL,
	name_key TEXT NOT NULL UNIQUE,
	role TEXT NOT NULL,
	password TEXT NOT NULL,
	link_hash BYTEA NOT NULL,
	link_until BIGINT NOT NULL,
	epoch BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	signed_in_at BIGINT NOT NULL
);

CREATE INDEX users_by_account ON users (account_id, created_at, id);
CREATE INDEX users_by_link ON users (link_hash);

-- Browsers. user_id is empty until somebody has signed in.
CREATE TABLE sign_ins (
	token_hash TEXT PRIMARY KEY,
	user_id TEXT NOT NULL,
	data BYTEA NOT NULL,
	expires_at BIGINT NOT NULL
);

CREATE INDEX sign_ins_by_user ON sign_ins (user_id);
CREATE INDEX sign_ins_by_expiry ON sign_ins (expires_at);

CREATE TABLE passkeys (
	id BYTEA PRIMARY KEY,
	user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name TEXT NOT NULL,
	credential BYTEA NOT NULL,
	created_at BIGINT NOT NULL,
	last_used_at BIGINT NOT NULL
);

CREATE INDEX passkeys_by_user ON passkeys (user_id, created_at);

-- Who did what in the dashboard. There is no reference to the user, whom the entries
-- outlive.
CREATE TABLE audit (
	id TEXT PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	user_id TEXT NOT NULL,
	user_name TEXT NOT NULL,
	action TEXT NOT NULL,
	subject TEXT NOT NULL,
	detail TEXT NOT NULL,
	address TEXT NOT NULL,
	created_at BIGINT NOT NULL
);

CREATE INDEX audit_by_account ON audit (account_id, created_at, id);
