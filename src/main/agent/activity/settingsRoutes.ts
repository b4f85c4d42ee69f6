import { changeActivitySettings, getActivitySettings } from '#shared/contract/activitySettings.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { ActivitySettingsStore } from './activitySettings.ts'

export function createSettingsRoutes(settings: ActivitySettingsStore): LocalEndpoint[] {
  return [
    createLocalEndpoint(getActivitySettings, () => settings.read()),
    createLocalEndpoint(changeActivitySettings, ({ body }) => settings.change(body)),
  ]
}
