/** Clock that a module reads; see `Clock`. `wall`: for times that are displayed or compared with other clocks. */
export type TimeReading = 'wall' | 'running' | 'steady' | 'latest' | 'passed'

export type TimeUseEntry = {
  reads: readonly TimeReading[]
  /** Effect of a clock that is set a year ahead for a minute, or of a long sleep. */
  answer: string
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
    answer: 'Charges running time since the last charge. The rest of a jump is noted, never charged.',
    modules: ['service/credits/sandboxBilling.ts'],
  },
  ledger: {
    reads: ['wall', 'steady'],
    answer: 'Days of key limits and the time of holds go on. Transfers carry the wall time.',
    modules: [
      'service/credits/creditHolds.ts',
      'service/credits/creditTransfers.ts',
      'service/credits/keyLimits.ts',
      'service/compose/composeCredits.ts',
    ],
  },
  budgets: {
    reads: ['steady'],
    answer: 'Days, months and rolling windows go on, so no limit begins anew.',
    modules: [
      'agent/budgets/paymentBudgets.ts',
      'agent/budgets/paymentReservations.ts',
      'agent/budgets/spendBudgets.ts',
      'agent/tools/toolBudgets.ts',
    ],
  },
  renewals: {
    reads: ['steady'],
    answer: 'Nothing is renewed and no notice is due before its time.',
    modules: [
      'agent/domains/renewals/autoRenewals.ts',
      'agent/domains/renewals/domainWatch.ts',
      'agent/domains/renewals/expiryNotices.ts',
      'agent/domains/renewals/renewalRepository.ts',
      'agent/domains/renewals/renewals.ts',
    ],
  },
  'outgoing-payments': {
    reads: ['wall', 'steady'],
    answer:
      'Schedules go on. Nothing is paid while the wall clock differs from the seller’s, nor called void too early.',
    modules: [
      'agent/compose/composePayments.ts',
      'agent/payments/authorizationLookup.ts',
      'agent/payments/paymentFollower.ts',
      'agent/payments/paymentJournal.ts',
      'agent/payments/paymentSending.ts',
      'agent/payments/payments.ts',
      'agent/payments/signingCheck.ts',
      'agent/payments/signingClock.ts',
      'agent/budgets/reconcileSignedEntries.ts',
    ],
  },
  'incoming-payments': {
    reads: ['wall', 'steady'],
    answer: 'Schedules and repetitions go on. Validity of a signature is judged by the wall clock, as on a chain.',
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
    answer: 'An order with an unknown outcome is not given up early, and quotes last as long as they say.',
    modules: ['service/domains/domainOrders.ts', 'service/domains/domainQuotes.ts'],
  },
  requests: {
    reads: ['wall', 'latest'],
    answer: 'Deadlines of waiting requests move with a clock that is set. A sleep counts. Grants never revive.',
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
    answer: 'An Idempotency-Key stays known for its 24 hours, so nothing is done or paid twice.',
    modules: [
      'service/idempotency/idempotentResponses.ts',
      'agent/approvals/idempotentSubmissions.ts',
      'agent/tools/paymentKeys.ts',
      'agent/tools/pendingCalls.ts',
    ],
  },
  credentials: {
    reads: ['steady'],
    answer: 'They last as long as they say: a clock that is ahead ends none, and one that is set back revives none.',
    modules: [
      'service/auth/accessTokens.ts',
      'service/auth/nonces.ts',
      'service/auth/signIns.ts',
      'service/automatons/automatonNonces.ts',
      'service/ports/frameSessions.ts',
      'service/ports/portTokens.ts',
      'service/terminals/terminalLinks.ts',
      'platform/access/principals.ts',
    ],
  },
  'sign-in-messages': {
    reads: ['wall'],
    answer: 'Times in a signed message are compared with the wall clock: while it is wrong, signing in fails.',
    modules: ['service/auth/signInChecks.ts', 'agent/signer/prepareSignIn.ts'],
  },
  signatures: {
    reads: ['wall'],
    answer: 'A payment is valid for minutes of the wall clock: while it is wrong, sellers refuse it.',
    modules: ['agent/signer/paymentAuthorization.ts', 'agent/signer/solanaPayment.ts', 'agent/signer/uptoPayment.ts'],
  },
  'session-of-hosted-service': {
    reads: ['steady'],
    answer: 'Tokens are renewed after the time that the service named.',
    modules: ['agent/connections/hostedSession.ts'],
  },
  'window-sessions': {
    reads: ['wall', 'latest'],
    answer:
      'Sessions end while the clock is ahead, and the window asks for a new link. A clock that is set back revives none. Links of the window last hours.',
    modules: ['agent/api/userSessions.ts', 'agent/api/localServer.ts', 'agent/securePrompts/securePromptSessions.ts'],
  },
  'wallet-lock': {
    reads: ['steady', 'running'],
    answer: 'The wallet locks in time. Pauses after wrong passphrases are waited out.',
    modules: ['agent/wallet/autoLock.ts', 'agent/wallet/passphrases.ts'],
  },
  'idle-sandboxes': {
    reads: ['running'],
    answer: 'Idle time is running time: neither a jump nor a sleep stops a sandbox.',
    modules: ['service/idle/idlePolicy.ts', 'service/idle/sandboxUse.ts'],
  },
  'deletion-by-age': {
    reads: ['passed'],
    answer: 'Nothing is deleted until looks at the clock, one day of running time apart, agree.',
    modules: [
      'agent/activity/retention.ts',
      'agent/chat/chatPurge.ts',
      'agent/recordings/recordings.ts',
      'service/files/uploads.ts',
    ],
  },
  'program-sandboxes': {
    reads: ['steady'],
    answer: 'What a program left behind is looked for as long as before.',
    modules: ['agent/tools/programSandboxes.ts'],
  },
  limits: {
    reads: ['running'],
    answer: 'Rates, durations and silence are measured by running time, in memory.',
    modules: [
      'platform/concurrency/tokenBuckets.ts',
      'platform/http/httpServer.ts',
      'service/http/rateLimits.ts',
      'service/inference/streaming/completionLimits.ts',
      'service/inference/responseItems.ts',
      'service/host/hostConnection.ts',
      'service/host/hostHeartbeat.ts',
      'agent/activity/serviceFollower.ts',
      'agent/tools/sandboxProgram.ts',
      'agent/tools/toolActivityRecorder.ts',
      'agent/tools/toolPerformer.ts',
      'agent/toolServers/messageLimits.ts',
      'agent/toolServers/sandboxTransport.ts',
      'agent/toolServers/serverConnections.ts',
    ],
  },
  supervision: {
    reads: ['wall'],
    answer: 'A process that ended is started after a pause of another length, once.',
    modules: ['platform/processes/childSupervisor.ts', 'platform/program/endSignals.ts'],
  },
  caches: {
    reads: ['wall', 'running'],
    answer: 'What is cached is read again, or shown with the age that the clock says.',
    modules: [
      'agent/api/localClients.ts',
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
    answer: 'No request is removed before its time has certainly passed.',
    modules: ['service/auth/accountRequests.ts'],
  },
  'activity-log': {
    reads: ['wall'],
    answer: 'Entries carry the wall time, and a set clock is an entry of its own. The chain is in order of writing.',
    modules: ['agent/activity/timeline.ts', 'service/activity/activityLog.ts', 'service/activity/presentCaller.ts'],
  },
  timestamps: {
    reads: ['wall'],
    answer: 'They say what the clock said. Nothing is decided by them.',
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
