import { AppError } from '#shared/appError.ts'
import type { ExposedPort } from '#shared/contract/ports.ts'
import { exposePort } from '#shared/contract/ports.ts'

export type PortForm = { port: string; visibility: ExposedPort['visibility']; subdomain: string }
export type PortErrors = { port?: string; subdomain?: string }

/** Creates initial values. Ports are private by default. */
export function createPortForm(port = ''): PortForm {
  return { port, visibility: 'private', subdomain: '' }
}

export function toPortInput({ port, visibility, subdomain }: PortForm) {
  return { port: Number(port), visibility, ...(subdomain.trim() !== '' && { subdomain: subdomain.trim() }) }
}

/** Validates the input as the service would. */
export function validatePortForm(form: PortForm): PortErrors {
  const errors: PortErrors = {}
  for (const { path, message } of exposePort.body.safeParse(toPortInput(form)).error?.issues ?? []) {
    if (path[0] === 'port') errors.port ??= toSentence(message)
    if (path[0] === 'subdomain') errors.subdomain ??= toSentence(message)
  }
  return errors
}

/**
 * Maps a validation error of the service to a field.
 * @returns undefined if the error concerns the request as a whole
 */
export function toPortErrors(error: unknown): PortErrors | undefined {
  if (!(error instanceof AppError)) return undefined
  return error.code === 'port/taken' ? { subdomain: error.message } : undefined
}

function toSentence(demand: string): string {
  return `${demand.charAt(0).toUpperCase()}${demand.slice(1)}.`
}
