import { decideAccountRequest, listAccountRequests } from './accountRequests.ts'
import { createApiKey, listApiKeys, revokeApiKey } from './accounts.ts'
import { listAccountActivity, listActivity, listCommands } from './activity.ts'
import {
  createNonce,
  getMe,
  linkWallet,
  refreshTokens,
  signOut,
  unlinkWallet,
  verifySignIn,
  verifySolanaSignIn,
} from './auth.ts'
import { createAutomatonNonce, getAutomaton, listAutomatons, registerAutomaton } from './automatons.ts'
import { getBalance, getPricing, grantCredits, listTransactions, refundCharge, transferCredits } from './credits.ts'
import {
  copyFile,
  downloadFile,
  downloadFolder,
  listFiles,
  makeFolder,
  moveFile,
  readFile,
  removeFile,
  statFile,
  uploadFile,
} from './files.ts'
import { getHealth } from './health.ts'
import { addImage, listImages, removeImage } from './images.ts'
import { countMessageTokens, createChatCompletion, createMessage, createResponse, listModels } from './inference.ts'
import { getMetrics } from './metrics.ts'
import { createPortToken, exposePort, listListeningPorts, listPorts, removePort } from './ports.ts'
import { listProcesses, signalProcess } from './processes.ts'
import { testProvider } from './providers.ts'
import type { Route } from './route.ts'
import { addSandboxDomain, listSandboxDomains, removeSandboxDomain } from './sandboxDomains.ts'
import {
  changeSandbox,
  createSandbox,
  deleteSandbox,
  execInSandbox,
  getSandbox,
  listRuntimes,
  listSandboxes,
  startSandbox,
  stopSandbox,
} from './sandboxes.ts'
import { createSnapshot, deleteSnapshot, forkSnapshot, listSnapshots, restoreSnapshot } from './snapshots.ts'
import { searchTerminals } from './terminalSearch.ts'
import {
  changeTerminal,
  closeTerminal,
  createTerminal,
  createTerminalLink,
  listTerminals,
  readTerminal,
  resizeTerminal,
  writeTerminal,
} from './terminals.ts'
import { appendUpload, beginUpload, cancelUpload, getUpload } from './uploads.ts'

/** Every operation of the service. OpenAPI and the check that each has a handler are made from it. */
export const routeTable: readonly Route[] = [
  getHealth,
  createNonce,
  verifySignIn,
  verifySolanaSignIn,
  refreshTokens,
  signOut,
  getMe,
  linkWallet,
  unlinkWallet,
  createApiKey,
  listApiKeys,
  revokeApiKey,
  listAccountRequests,
  decideAccountRequest,
  listRuntimes,
  listImages,
  addImage,
  removeImage,
  createSandbox,
  listSandboxes,
  getSandbox,
  changeSandbox,
  deleteSandbox,
  startSandbox,
  stopSandbox,
  execInSandbox,
  createSnapshot,
  listSnapshots,
  restoreSnapshot,
  forkSnapshot,
  deleteSnapshot,
  uploadFile,
  readFile,
  listFiles,
  statFile,
  downloadFile,
  downloadFolder,
  makeFolder,
  moveFile,
  copyFile,
  removeFile,
  beginUpload,
  appendUpload,
  getUpload,
  cancelUpload,
  exposePort,
  listPorts,
  listListeningPorts,
  createPortToken,
  removePort,
  addSandboxDomain,
  listSandboxDomains,
  removeSandboxDomain,
  createTerminal,
  listTerminals,
  searchTerminals,
  writeTerminal,
  readTerminal,
  changeTerminal,
  resizeTerminal,
  closeTerminal,
  createTerminalLink,
  getMetrics,
  listProcesses,
  signalProcess,
  listCommands,
  listActivity,
  listAccountActivity,
  registerAutomaton,
  createAutomatonNonce,
  listAutomatons,
  getAutomaton,
  getBalance,
  listTransactions,
  getPricing,
  transferCredits,
  grantCredits,
  refundCharge,
  listModels,
  createChatCompletion,
  createResponse,
  createMessage,
  countMessageTokens,
  testProvider,
]
