export default { future: { v8_viteEnvironmentApi: true } }
