import type { Page, Response } from 'playwright-core'
import { securePromptHostName } from '#shared/contract/wallet.ts'
import type { Written } from './canarySecrets.ts'

/** All traffic between a page, its frames and the servers, except the contents of secure prompts. */
export type WindowTraffic = {
  /** Returns URLs, requests of the window, responses, events and console output. */
  everything(): Promise<Written[]>
  /** Bodies of secure prompts, which may show a phrase but must not repeat user input. */
  prompts(): Promise<Written[]>
}

export function createWindowTraffic(page: Page): WindowTraffic {
  const traffic: (Written | Promise<Written>)[] = []
  const ofSecurePrompts: (Written | Promise<Written>)[] = []
  page.on('request', (request) => {
    traffic.push({ where: 'the address of a request', bytes: Buffer.from(request.url()) })
    if (!isSecurePrompt(request.url()))
      traffic.push({ where: request.url(), bytes: request.postDataBuffer() ?? Buffer.alloc(0) })
  })
  page.on('response', (response) => {
    const target = isSecurePrompt(response.url()) ? ofSecurePrompts : traffic
    target.push(readResponse(response))
  })
  page.on('websocket', (socket) => {
    const heard = ({ payload }: { payload: string | Buffer }) =>
      traffic.push({ where: `a frame of ${socket.url()}`, bytes: Buffer.from(payload) })
    socket.on('framereceived', heard)
    socket.on('framesent', heard)
  })
  page.on('console', (message) => traffic.push({ where: 'the console', bytes: Buffer.from(message.text()) }))
  return { everything: () => Promise.all(traffic), prompts: () => Promise.all(ofSecurePrompts) }
}

async function readResponse(response: Response): Promise<Written> {
  const source = `${response.request().method()} ${response.url()}`
  const body = await response.body().catch(() => Buffer.alloc(0)) // the page may be closed before its body is read
  return { where: source, bytes: Buffer.concat([Buffer.from(JSON.stringify(response.headers())), body]) }
}

function isSecurePrompt(url: string): boolean {
  return new URL(url).hostname === securePromptHostName
}
