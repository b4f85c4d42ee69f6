import type { Migration } from '../../migrate.ts'
import { approvals } from './approvals.ts'
import { migrateIdempotency } from './askedOnce.ts'
import { budgetServices } from './budgetServices.ts'
import { chatSpend } from './chatSpend.ts'
import { chats } from './chats.ts'
import { chatTools } from './chatTools.ts'
import { clock } from './clock.ts'
import { coinBalances } from './coinBalances.ts'
import { domainRenewals } from './domainRenewals.ts'
import { fieldNames } from './fieldNames.ts'
import { grantPaths } from './grantPaths.ts'
import { grantReservations } from './grantReservations.ts'
import { intentBasis } from './intentBasis.ts'
import { migrateRetention } from './keptIntents.ts'
import { localDomains } from './localDomains.ts'
import { modelServerPrices } from './modelServerPrices.ts'
import { paymentBudgets } from './paymentBudgets.ts'
import { payments } from './payments.ts'
import { programSandboxes } from './programSandboxes.ts'
import { providers } from './providers.ts'
import { purchaseLeases } from './purchaseLeases.ts'
import { recordings } from './recordings.ts'
import { references } from './references.ts'
import { referencesByService } from './referencesByService.ts'
import { registrations } from './registrations.ts'
import { timeline } from './timeline.ts'
import { timelineTasks } from './timelineTasks.ts'
import { toolPaymentIds } from './toolPaymentIds.ts'
import { toolServerGrants } from './toolServerGrants.ts'
import { toolServers } from './toolServers.ts'
import { tools } from './tools.ts'
import { wallet } from './wallet.ts'
import { walletLinks } from './walletLinks.ts'

/** The schema of `agent.sqlite`, in order. */
export const agentMigrations: readonly Migration[] = [
  wallet,
  approvals,
  timeline,
  registrations,
  intentBasis,
  migrateIdempotency,
  migrateRetention,
  grantReservations,
  providers,
  chats,
  chatSpend,
  localDomains,
  payments,
  paymentBudgets,
  tools,
  chatTools,
  timelineTasks,
  recordings,
  domainRenewals,
  toolServers,
  coinBalances,
  toolPaymentIds,
  modelServerPrices,
  references,
  walletLinks,
  programSandboxes,
  purchaseLeases,
  clock,
  grantPaths,
  referencesByService,
  toolServerGrants,
  budgetServices,
  fieldNames,
]
