import type { Migration } from '../migrate.ts'
import { accountActivity } from './accountActivity.ts'
import { accountRequests } from './accountRequests.ts'
import { accounts } from './accounts.ts'
import { activity } from './activity.ts'
import { activityActorIds } from './activityActorIds.ts'
import { activityActors } from './activityActors.ts'
import { activityTasks } from './activityTasks.ts'
import { automatons } from './automatons.ts'
import { clock } from './clock.ts'
import { createdAnswers } from './createdAnswers.ts'
import { creditDays } from './creditDays.ts'
import { credits } from './credits.ts'
import { domainClaims } from './domainClaims.ts'
import { domains } from './domains.ts'
import { domainsWithoutPort } from './domainsWithoutPort.ts'
import { dualMigrations } from './dualMigrations.ts'
import { idempotency } from './idempotency.ts'
import { idempotencyBounds } from './idempotencyBounds.ts'
import { issuers } from './issuers.ts'
import { paymentKeys } from './paymentKeys.ts'
import { paymentResources } from './paymentResources.ts'
import { paymentSandboxes } from './paymentSandboxes.ts'
import { payments } from './payments.ts'
import { portAnswers } from './portAnswers.ts'
import { ports } from './ports.ts'
import { registrars } from './registrars.ts'
import { removedThings } from './removedThings.ts'
import { runningMeters } from './runningMeters.ts'
import { sandboxDomains } from './sandboxDomains.ts'
import { sandboxes } from './sandboxes.ts'
import { sandboxRemovals } from './sandboxRemovals.ts'
import { snapshots } from './snapshots.ts'
import { uploads } from './uploads.ts'
import { walletAccounts } from './walletAccounts.ts'
import { walletLinkers } from './walletLinkers.ts'

/** The schema of `service.sqlite`, in order. New migrations have a text for each engine: see `dualMigrations`. */
export const serviceMigrations: readonly Migration[] = [
  accounts,
  sandboxes,
  idempotency,
  activity,
  ports,
  snapshots,
  sandboxDomains,
  uploads,
  walletAccounts,
  automatons,
  accountActivity,
  accountRequests,
  domainsWithoutPort,
  activityActors,
  credits,
  creditDays,
  payments,
  domains,
  registrars,
  domainClaims,
  activityTasks,
  sandboxRemovals,
  paymentKeys,
  idempotencyBounds,
  removedThings,
  paymentResources,
  createdAnswers,
  issuers,
  clock,
  runningMeters,
  activityActorIds,
  portAnswers,
  paymentSandboxes,
  walletLinkers,
  ...dualMigrations.map(({ version, sqlite }) => ({ version, up: sqlite })),
]
