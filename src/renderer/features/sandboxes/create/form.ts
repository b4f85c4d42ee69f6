import { AppError } from '#shared/appError.ts'
import type { Input } from '#shared/contract/route.ts'
import {
  CreateSandbox,
  type createSandbox,
  type Network,
  type Region,
  type RuntimeReport,
  sandboxLimits,
} from '#shared/contract/sandboxes.ts'

export type CreateForm = {
  name: string
  vcpu: number
  memoryMb: number
  diskGb: number
  region: Region
  /** Selected runtime; undefined for the first available one. */
  runtime: string | undefined
  /** Selected image; undefined for the runtime's base. */
  image: string | undefined
  /** Selected network; undefined for the configured default. */
  network: Network | undefined
  idleMinutes: number | null
}

export type FormField =
  | 'name'
  | 'vcpu'
  | 'memory_mb'
  | 'disk_gb'
  | 'region'
  | 'runtime'
  | 'image'
  | 'network'
  | 'idle_minutes'
export type FieldErrors = Partial<Record<FormField, string>>

export const emptyForm: CreateForm = {
  name: '',
  vcpu: sandboxLimits.vcpu.default,
  memoryMb: sandboxLimits.memoryMb.default,
  diskGb: sandboxLimits.diskGb.default,
  region: 'eu-north',
  runtime: undefined,
  image: undefined,
  network: undefined,
  idleMinutes: null,
}

export function toCreateInput(form: CreateForm): Input<typeof createSandbox> {
  const { name, vcpu, memoryMb, diskGb, region, runtime, image, network, idleMinutes } = form
  return {
    ...(name.trim() !== '' && { name: name.trim() }),
    vcpu,
    memory_mb: memoryMb,
    disk_gb: diskGb,
    region,
    ...(runtime !== undefined && { runtime }),
    ...(image !== undefined && { image }),
    ...(network !== undefined && { network }),
    ...(idleMinutes !== null && { idle_minutes: idleMinutes }),
  }
}

/** Validates the input as the service would. */
export function validateInput(input: Input<typeof createSandbox>): FieldErrors {
  const issues = CreateSandbox.safeParse(input).error?.issues ?? []
  const errors: FieldErrors = {}
  for (const { path, message } of issues) {
    const [field] = path
    if (isFormField(field)) errors[field] ??= toSentence(message)
  }
  return errors
}

/**
 * Maps an error of the service to the field that it names (“`name` must …”).
 * @returns undefined if the error concerns the request as a whole
 */
export function toFieldErrors(error: unknown): FieldErrors | undefined {
  if (!(error instanceof AppError)) return undefined
  if (error.code === 'runtime/unknown' || error.code === 'runtime/unavailable') return { runtime: error.message }
  if (error.code === 'image/not-found' || error.code === 'image/not-ready') return { image: error.message }
  if (error.code === 'egress/unavailable') return { network: error.message }
  const [, field, demand] = error.code === 'request/invalid' ? (/^`(\w+)` (.+)$/.exec(error.message) ?? []) : []
  return isFormField(field) && demand !== undefined ? { [field]: toSentence(demand) } : undefined
}

/** Returns the runtime that will be used, if any is available. */
export function findRuntime<Runtime extends RuntimeReport>(
  runtimes: readonly Runtime[],
  name: string | undefined,
): Runtime | undefined {
  return runtimes.find((runtime) => (name === undefined ? runtime.available : runtime.name === name))
}

const fields: readonly FormField[] = [
  'name',
  'vcpu',
  'memory_mb',
  'disk_gb',
  'region',
  'runtime',
  'image',
  'network',
  'idle_minutes',
]

function isFormField(field: unknown): field is FormField {
  return fields.some((it) => it === field)
}

function toSentence(demand: string): string {
  const text = demand.charAt(0).toUpperCase() + demand.slice(1)
  return text.endsWith('.') ? text : `${text}.`
}
