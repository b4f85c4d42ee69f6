import type { z } from 'zod'
import { errorBodies } from '#shared/contract/errorBodies.ts'
import type { Route } from '#shared/contract/route.ts'
import {
  createOperation,
  createSocketOperation,
  type OperationContext,
  type SecurityRequirement,
  type SocketRoute,
} from './operations.ts'
import { createSchemaComponents, type JsonSchema, type SchemaComponents } from './schemaComponents.ts'

export type OpenApiOptions = Pick<OperationContext, 'securityOf' | 'repetition'> & {
  title: string
  version: string
  /** Introduction in Markdown. */
  about: string
  routes: readonly Route[]
  sockets: readonly SocketRoute[]
  /** Schemas that are shared under these names. */
  named: Readonly<Record<string, z.ZodType>>
  securitySchemes: Readonly<Record<string, JsonSchema>>
  /** Default security of operations. */
  security: readonly SecurityRequirement[]
}

export type OpenApiDocument = JsonSchema & { openapi: string }

/** Generates the OpenAPI 3.1 document of the routes from the schemas that validate them. */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { title, version, about, routes, sockets, named, securitySchemes, security, securityOf, repetition } = options
  const schemas = createSchemaComponents(named)
  const context: OperationContext = { schemas, securityOf, repetition }
  const paths: Record<string, Record<string, JsonSchema>> = {}
  const add = (path: string, method: string, operation: JsonSchema) => {
    const name = path.replace(/:(\w+)/g, '{$1}')
    paths[name] = { ...paths[name], [method.toLowerCase()]: operation }
  }
  for (const route of routes) {
    add(route.path, route.method, createOperation(route, route.operation, context))
    for (const [index, alias] of route.aliases.entries()) {
      const name = `${route.operation}Alias${index === 0 ? '' : index + 1}`
      add(alias, route.method, createOperation(route, name, context))
    }
  }
  for (const socket of sockets) add(socket.path, 'GET', createSocketOperation(socket, context))
  return {
    openapi: '3.1.0',
    info: { title, version, description: about },
    servers: [{ url: '/', description: 'Origin of this document.' }],
    tags: [...new Set([...routes, ...sockets].map(({ tag }) => tag))].map((name) => ({ name })),
    security,
    paths,
    components: { schemas: { ...schemas.components, ...createErrorSchemas(schemas) }, securitySchemes },
  }
}

function createErrorSchemas({ jsonSchema }: SchemaComponents): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(errorBodies).map(([name, schema]) => [name, jsonSchema(schema, 'output')]))
}
