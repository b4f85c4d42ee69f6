import { randomBytes } from 'node:crypto'
import { isLoopback } from '#platform/net/listenAddress.ts'
import type { Scope } from '#platform/program/scope.ts'
import { type Clock, type ClockJump, createTrustedClock, openClock } from '#platform/time/clock.ts'
import type { Store } from '#storage/store.ts'
import { type ActivityLog, createActivityLog } from '../activity/activityLog.ts'
import { createPresentCaller, type PresentCaller } from '../activity/presentCaller.ts'
import { createServicePrincipals, type ServicePrincipals } from '../base/principals.ts'
import { createEventHub, type EventHub } from '../events/eventHub.ts'
import { readCertificateNames } from '../http/certificateNames.ts'
import { openServiceData, type ServiceData } from './openServiceData.ts'
import type { ServiceOptions } from './serviceOptions.ts'

/** Options and services that all parts of the service share. */
export type ServiceContext = {
  options: ServiceOptions
  store: Store
  openLedger: ServiceData['openLedger']
  releaseSpace: ServiceData['releaseSpace']
  clock: Clock
  events: EventHub
  activity: ActivityLog
  callers: PresentCaller
  principals: ServicePrincipals
  address: ServiceAddress
  /** Closes the resources that a part opens. */
  scope: Scope
}

export type ServiceAddress = {
  publicUrl: URL | undefined
  /** Returns the URL of the server, or an empty string until it listens. */
  getOwnUrl(): string
  /** Returns the public URL without a trailing slash. */
  base(): string
  /** Returns the URL of a host name of this service, without a port until it listens. Never throws. */
  getUrl(hostName: string): string
  /** Returns the endpoint to connect to. Until the service listens, this is the configured one. Never throws. */
  endpoint(): { host: string; port: number }
  listensAt(url: string): void
}

/** @throws AppError `data/unusable`, `data/damaged`, `data/newer`, `data/in-use`, StoreUnavailableError */
export async function openServiceContext(options: ServiceOptions, scope: Scope): Promise<ServiceContext> {
  const { store, clockStore, openLedger, releaseSpace } = await openServiceData(options, scope)
  const { time, now } = options
  const log = options.log.forArea('clock')
  const onJump = (jump: ClockJump): void => log.warn('clock jumped', jump)
  const clock = scope.own(
    time ? openClock({ source: time, store: clockStore, onJump }) : createTrustedClock(now),
    (it) => it.close(),
  )
  const events = createEventHub()
  const callers = createPresentCaller(now)
  const activity = scope.own(
    createActivityLog({
      store,
      newId: () => `act_${randomBytes(12).toString('hex')}`,
      now: options.now,
      onRecorded: ({ accountId, sequence }) => events.publish(accountId, { type: 'activity.noted', sequence }),
      by: callers.by,
      beganAtMs: callers.beganAtMs,
      task: callers.task,
      log: options.log.forArea('activity'),
    }),
    (it) => it.close(),
  )
  const principals = scope.own(
    createServicePrincipals({ now: clock.steadyMs, log: options.log.forArea('principals') }),
    (it) => it.close(),
  )
  const address = toServiceAddress(options)
  return { options, store, openLedger, releaseSpace, clock, events, activity, callers, principals, address, scope }
}

function toServiceAddress(options: ServiceOptions): ServiceAddress {
  const { tls } = options
  const publicUrl = getPublicUrl(options)
  const scheme = tls ? 'https' : 'http'
  let ownUrl = ''
  return {
    publicUrl,
    getOwnUrl: () => ownUrl,
    base: () => publicUrl?.href.replace(/\/+$/, '') ?? ownUrl,
    getUrl(hostName) {
      const port = ownUrl === '' ? '' : new URL(ownUrl).port
      return `${scheme}://${hostName}${port === '' ? '' : `:${port}`}`
    },
    endpoint() {
      const reached = publicUrl ?? (ownUrl === '' ? undefined : new URL(ownUrl))
      return reached === undefined ? options.listen : toEndpoint(reached)
    },
    listensAt(url) {
      ownUrl = url
    },
  }
}

/** Returns the host without IPv6 brackets, and the port even if the scheme implies it. */
export function toEndpoint({ hostname, port, protocol }: URL): { host: string; port: number } {
  const impliedPort = protocol === 'https:' ? 443 : 80
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? impliedPort : Number(port) }
}

/** Beyond loopback, `service.public_url` defaults to the first name of the certificate. */
function getPublicUrl({ publicUrl, tls, listen }: ServiceOptions): URL | undefined {
  if (publicUrl !== undefined) return new URL(publicUrl)
  if (!tls || isLoopback(listen.host) || listen.port === 0) return undefined
  const name = readCertificateNames(tls.cert).find((it) => !it.startsWith('*.'))
  return name === undefined ? undefined : new URL(`https://${name}:${listen.port}`)
}
