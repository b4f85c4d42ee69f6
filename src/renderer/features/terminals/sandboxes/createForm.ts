import { AppError } from '../../../../shared/appError.ts'
import type { Input } from '../../../../shared/contract/route.ts'
import {
  CreateSandbox,
  type createSandbox,
  type Region,
  type RuntimeReport,
  sandboxLimits,
} from '../../../../shared/contract/sandboxes.ts'

export type CreateForm = {
  name: string
  vcpu: number
  memoryMb: number
  diskGb: number
  region: Region
  /** Undefined is the first available one. */
  runtime: string | undefined
}

export type FormField = 'name' | 'vcpu' | 'memory_mb' | 'disk_gb' | 'region' | 'runtime'
export type FieldErrors = Partial<Record<FormField, string>>

export const emptyForm: CreateForm = {
  name: '',
  vcpu: sandboxLimits.vcpu.default,
  memoryMb: sandboxLimits.memoryMb.default,
  diskGb: sandboxLimits.diskGb.default,
  region: 'eu-north',
  runtime: undefined,
}

export function inputOf({ name, vcpu, memoryMb, diskGb, region, runtime }: CreateForm): Input<typeof createSandbox> {
  return {
    ...(name.trim() !== '' && { name: name.trim() }),
    vcpu,
    memory_mb: memoryMb,
    disk_gb: diskGb,
    region,
    ...(runtime !== undefined && { runtime }),
  }
}

/** What the service would refuse, found without asking it. */
export function fieldErrorsOf(input: Input<typeof createSandbox>): FieldErrors {
  const issues = CreateSandbox.safeParse(input).error?.issues ?? []
  const errors: FieldErrors = {}
  for (const { path, message } of issues) {
    const [field] = path
    if (isFormField(field)) errors[field] ??= sentence(message)
  }
  return errors
}

/** The field a refusal names (“`name` must …”); undefined when it is about the request as a whole. */
export function fieldErrorOf(failure: unknown): FieldErrors | undefined {
  if (!(failure instanceof AppError)) return undefined
  if (failure.code === 'runtime/unknown' || failure.code === 'runtime/unavailable') return { runtime: failure.message }
  const [, field, demand] = failure.code === 'request/invalid' ? (/^`(\w+)` (.+)$/.exec(failure.message) ?? []) : []
  return isFormField(field) && demand !== undefined ? { [field]: sentence(demand) } : undefined
}

/** The runtime that will be used, where one can be. */
export function chosenRuntime(runtimes: readonly RuntimeReport[], name: string | undefined): RuntimeReport | undefined {
  return runtimes.find((it) => (name === undefined ? it.available : it.name === name))
}

const fields: readonly FormField[] = ['name', 'vcpu', 'memory_mb', 'disk_gb', 'region', 'runtime']

function isFormField(field: unknown): field is FormField {
  return fields.some((it) => it === field)
}

function sentence(demand: string): string {
  const text = demand.charAt(0).toUpperCase() + demand.slice(1)
  return text.endsWith('.') ? text : `${text}.`
}
