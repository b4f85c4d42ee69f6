/** Clock that a module reads; see `Clock`. `wall`: for times that are displayed or compared with other clocks. */
export type TimeReading = 'wall' | 'running' | 'steady' | 'latest' | 'passed'

export type TimeUseEntry = {
  reads: readonly TimeReading[]
  /** Effect of a clock that is set a year ahead for a minute, or of a long sleep. */
  effect: string
  /** Paths below `src/main`. */
  modules: readonly string[]
}

/**
 * All code in the service and the local agent that reads a clock. A module without a row fails the tests: determine the
 * effect of a clock jump on it, then add a row.
 */
export const timeUses = {
  'sandbox-billing': {
    reads: ['wall', 'steady', 'running'],
    effect: 'Charges the running time since the last charge. The rest of a jump is recorded but never charged.',
    modules: ['service/credits/sandboxBilling.ts'],
  },
  ledger: {
    reads: ['wall', 'steady'],
    effect: 'Days of key limits and the age of holds follow elapsed time. Transfers are stamped with the wall time.',
    modules: [
      'service/credits/creditHolds.ts',
      'service/credits/creditTransfers.ts',
      'service/credits/keyLimits.ts',
      'service/credits/postgresLedger.ts',
      'service/compose/composeCredits.ts',
    ],
  },
  budgets: {
    reads: ['steady'],
    effect: 'Days, months and rolling windows follow elapsed time, so no limit resets early.',
    modules: [
      'agent/budgets/paymentBudgets.ts',
      'agent/budgets/paymentReservations.ts',
      'agent/budgets/spendBudgets.ts',
      'agent/tools/toolBudgets.ts',
    ],
  },
  renewals: {
    reads: ['steady'],
    effect: 'Nothing is renewed and no notice is sent early.',
    modules: [
      'agent/domains/renewals/autoRenewals.ts',
      'agent/domains/renewals/renewalScheduler.ts',
      'agent/domains/renewals/expiryNotices.ts',
      'agent/domains/renewals/renewalRepository.ts',
      'agent/domains/renewals/renewals.ts',
    ],
  },
  'outgoing-payments': {
    reads: ['wall', 'steady'],
    effect:
      'Schedules follow elapsed time. Nothing is paid while the wall clock differs from the seller’s, and no payment is declared void early.',
    modules: [
      'agent/compose/composePayments.ts',
      'agent/payments/authorizationLookup.ts',
      'agent/payments/paymentReconciler.ts',
      'agent/payments/paymentJournal.ts',
      'agent/payments/paymentSubmitter.ts',
      'agent/payments/payments.ts',
      'agent/payments/signingCheck.ts',
      'agent/payments/signingClock.ts',
      'agent/budgets/reconcileSignedEntries.ts',
    ],
  },
  'incoming-payments': {
    reads: ['wall', 'steady'],
    effect:
      'Schedules and retries follow elapsed time. Signatures are validated against the wall clock, as on a chain.',
    modules: [
      'service/payments/paymentBooks.ts',
      'service/payments/checkout.ts',
      'service/payments/startPaymentReconciler.ts',
      'service/payments/chainFacilitator.ts',
      'service/payments/chainOutcome.ts',
      'service/payments/remoteFacilitator.ts',
      'service/payments/testLedgerFacilitator.ts',
      'service/payments/paymentRoutes.ts',
    ],
  },
  'domain-orders': {
    reads: ['steady'],
    effect: 'An order with an unknown outcome is not abandoned early, and quotes last their full time.',
    modules: ['service/domains/domainOrders.ts', 'service/domains/domainQuotes.ts'],
  },
  requests: {
    reads: ['wall', 'latest'],
    effect:
      'Deadlines of waiting requests move when the clock is set. Sleep counts. Expired grants never become valid again.',
    modules: [
      'agent/approvals/approvalEngine.ts',
      'agent/approvals/intentExpiry.ts',
      'agent/approvals/intentSubmission.ts',
      'agent/approvals/intentDecisions.ts',
      'agent/approvals/intentEvaluation.ts',
      'agent/approvals/policyStore.ts',
      'agent/approvals/grantReservations.ts',
      'agent/approvals/accountRemoval.ts',
      'agent/approvals/policyEvaluator.ts',
      'agent/approvals/purchaseClosing.ts',
      'agent/approvals/requesterLeases.ts',
      'agent/compose/composeAuthority.ts',
      'agent/compose/mayNow.ts',
    ],
  },
  repetitions: {
    reads: ['steady', 'passed'],
    effect: 'An Idempotency-Key is stored for its full 24 hours, so nothing is done or paid twice.',
    modules: [
      'service/idempotency/idempotentResponses.ts',
      'agent/approvals/idempotentSubmissions.ts',
      'agent/tools/paymentIdempotencyKeys.ts',
      'agent/tools/pendingCalls.ts',
    ],
  },
  credentials: {
    reads: ['steady'],
    effect: 'They last their full time: a clock that is ahead ends none, and a clock that is set back restores none.',
    modules: [
      'service/auth/accessTokens.ts',
      'service/auth/nonces.ts',
      'service/auth/signIns.ts',
      'service/automatons/automatonNonces.ts',
      'service/ports/frameSessions.ts',
      'service/ports/portTokens.ts',
      'service/terminals/terminalLinks.ts',
      'platform/access/principals.ts',
      'service/base/principals.ts',
    ],
  },
  'sign-in-messages': {
    reads: ['wall'],
    effect: 'Times in a signed message are compared with the wall clock: sign-in fails while it is wrong.',
    modules: ['service/auth/signInChecks.ts', 'agent/signer/prepareSignIn.ts'],
  },
  signatures: {
    reads: ['wall'],
    effect: 'A payment is valid for minutes of wall time: sellers refuse it while the wall clock is wrong.',
    modules: ['agent/signer/paymentAuthorization.ts', 'agent/signer/solanaPayment.ts', 'agent/signer/uptoPayment.ts'],
  },
  'session-of-hosted-service': {
    reads: ['steady'],
    effect: 'Tokens are renewed after the time that the service specified.',
    modules: ['agent/connections/hostedSession.ts'],
  },
  'window-sessions': {
    reads: ['wall', 'latest'],
    effect:
      'Sessions end while the clock is ahead, and the window asks for a new link. A clock that is set back restores none. Links of the window last hours.',
    modules: ['agent/api/userSessions.ts', 'agent/api/localServer.ts', 'agent/securePrompts/securePromptSessions.ts'],
  },
  'wallet-lock': {
    reads: ['steady', 'running'],
    effect: 'The wallet locks on time. Delays after wrong passphrases are not shortened.',
    modules: ['agent/wallet/autoLock.ts', 'agent/wallet/passphrases.ts'],
  },
  'idle-sandboxes': {
    reads: ['running'],
    effect: 'Idle time is running time: neither a jump nor a sleep stops a sandbox.',
    modules: ['service/idle/idlePolicy.ts', 'service/idle/sandboxUse.ts'],
  },
  'deletion-by-age': {
    reads: ['passed'],
    effect: 'Nothing is deleted until two clock readings, one day of running time apart, agree.',
    modules: [
      'agent/activity/retention.ts',
      'agent/chat/chatPurge.ts',
      'agent/recordings/recordings.ts',
      'service/files/uploads.ts',
    ],
  },
  'program-sandboxes': {
    reads: ['steady'],
    effect: 'The remains of a program are searched for as long as before.',
    modules: ['agent/tools/programSandboxes.ts'],
  },
  limits: {
    reads: ['running'],
    effect: 'Rates, durations and silence are measured by running time, in memory.',
    modules: [
      'platform/concurrency/tokenBuckets.ts',
      'platform/http/httpServer.ts',
      'service/http/rateLimits.ts',
      'service/inference/streaming/completionLimits.ts',
      'service/inference/responseItems.ts',
      'service/host/hostConnection.ts',
      'service/host/hostHeartbeat.ts',
      'agent/activity/serviceActivitySync.ts',
      'agent/tools/sandboxProgram.ts',
      'agent/tools/toolActivityRecorder.ts',
      'agent/tools/toolInvoker.ts',
      'agent/toolServers/messageLimits.ts',
      'agent/toolServers/sandboxTransport.ts',
      'agent/toolServers/serverConnections.ts',
    ],
  },
  supervision: {
    reads: ['wall'],
    effect: 'The next restart of an ended process may come earlier or later, once.',
    modules: ['platform/processes/childSupervisor.ts', 'platform/program/endSignals.ts'],
  },
  caches: {
    reads: ['wall', 'running'],
    effect: 'Cached data is fetched again, or shown with its age by the wall clock.',
    modules: [
      'agent/api/credentialAuthenticator.ts',
      'agent/chat/modelList.ts',
      'agent/domains/domainCache.ts',
      'agent/toolServers/toolCatalog.ts',
      'service/domains/domains.ts',
      'service/domains/rdap/rdapLookup.ts',
      'service/domains/registrars/openRegistrar.ts',
      'service/domains/searchAvailability.ts',
      'service/domains/zones.ts',
    ],
  },
  'account-requests': {
    reads: ['wall', 'passed'],
    effect: 'No request is removed before its time has passed on every clock.',
    modules: ['service/auth/accountRequests.ts'],
  },
  'activity-log': {
    reads: ['wall'],
    effect:
      'Entries are stamped with the wall time, and a set clock is recorded as an entry. The chain is in order of writing.',
    modules: [
      'agent/activity/timeline.ts',
      'service/activity/activityLog.ts',
      'service/activity/presentCaller.ts',
      'service/activity/recordedWrite.ts',
    ],
  },
  timestamps: {
    reads: ['wall'],
    effect: 'They store the wall time. No decision depends on them.',
    modules: [
      'agent/activity/activitySettings.ts',
      'agent/chat/runExecutor.ts',
      'agent/chat/attachments.ts',
      'agent/chat/conversations.ts',
      'agent/chat/imports/importChats.ts',
      'agent/chat/interruptedRuns.ts',
      'agent/chat/promptRoutes.ts',
      'agent/chat/sending.ts',
      'agent/chat/stepToolCalls.ts',
      'agent/domains/zonePlans.ts',
      'agent/identity/registrations.ts',
      'agent/providers/providerKeyStore.ts',
      'agent/providers/modelServers.ts',
      'agent/providers/providerKeys.ts',
      'agent/recordings/recordTerminal.ts',
      'agent/tools/toolClients.ts',
      'agent/wallet/keyringImport.ts',
      'agent/wallet/balances.ts',
      'agent/wallet/recoverWallet.ts',
      'agent/wallet/secretExport.ts',
      'agent/wallet/walletInfo.ts',
      'agent/wallet/walletLabels.ts',
      'platform/logging/log.ts',
      'service/accounts/apiKeys.ts',
      'service/accounts/ownerAccount.ts',
      'service/auth/linkedWallets.ts',
      'service/auth/newAccounts.ts',
      'service/credits/creditRoutes.ts',
      'service/domains/domainRoutes.ts',
      'service/domains/registrars/local/localRegistry.ts',
      'service/domains/registrars/namecom/nameComRegistrar.ts',
      'service/domains/registrars/namesilo/nameSiloRegistrar.ts',
      'service/http/healthRoutes.ts',
      'service/automatons/automatons.ts',
      'service/inference/gatewayResponses.ts',
      'service/metrics/metricsRoutes.ts',
      'service/sandboxDomains/sandboxDomains.ts',
      'service/foundSandboxes/foundSandboxes.ts',
      'service/sandboxes/sandboxRegistry.ts',
      'service/snapshots/snapshots.ts',
    ],
  },
} as const satisfies Record<string, TimeUseEntry>

export type TimeUse = keyof typeof timeUses
