-- In which language the events of a webhook are posted; empty: in the gateway's own.
ALTER TABLE webhooks ADD COLUMN format TEXT NOT NULL DEFAULT '';
ALTER TABLE account_webhooks ADD COLUMN format TEXT NOT NULL DEFAULT '';
