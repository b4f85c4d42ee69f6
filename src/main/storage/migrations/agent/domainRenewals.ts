import type { Migration } from '../../migrate.ts'

/**
 * Automatic renewals, the outcome for each expiry, and sent notices. `place` contains service and account. Adds the
 * account to DNS plans: earlier plans belong to the account that read their zone, if it was exactly one.
 */
export const domainRenewals = {
  version: 19,
  up: `
  CREATE TABLE domain_renewals (
    place TEXT NOT NULL,
    domain TEXT NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    days_before INTEGER NOT NULL CHECK (days_before BETWEEN 1 AND 90),
    years INTEGER NOT NULL CHECK (years BETWEEN 1 AND 10),
    most_micro_usd INTEGER NOT NULL CHECK (most_micro_usd > 0), -- for one renewal, all years
    PRIMARY KEY (place, domain)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE domain_renewal_turns ( -- one for each expiry, so that none is paid twice
    place TEXT NOT NULL,
    domain TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('planned', 'begun', 'renewed', 'credited', 'declined', 'superseded')),
    intent_id TEXT UNIQUE, -- of the present attempt; kept in the transaction that keeps the intent
    attempts INTEGER NOT NULL,
    next_at_ms INTEGER,
    problem_kind TEXT,
    problem TEXT,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (place, domain, expires_at_ms),
    CHECK (state <> 'begun' OR intent_id IS NOT NULL)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX domain_renewal_turns_begun ON domain_renewal_turns (place, state) WHERE state = 'begun';

  CREATE TABLE domain_notices (
    place TEXT NOT NULL,
    domain TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    days INTEGER NOT NULL, -- left, at most
    told_at_ms INTEGER NOT NULL,
    seen INTEGER NOT NULL CHECK (seen IN (0, 1)),
    PRIMARY KEY (place, domain, expires_at_ms, days)
  ) STRICT, WITHOUT ROWID;

  UPDATE dns_plans SET service = (
    SELECT min(c.service) FROM domain_cache c
    WHERE c.kind = 'zone' AND c.key = dns_plans.domain
      AND substr(c.service, 1, length(dns_plans.service) + 1) = dns_plans.service || ' '
  ) WHERE (
    SELECT count(*) FROM domain_cache c
    WHERE c.kind = 'zone' AND c.key = dns_plans.domain
      AND substr(c.service, 1, length(dns_plans.service) + 1) = dns_plans.service || ' '
  ) = 1;
`,
} as const satisfies Migration
