"""SageMaker: training plans and the endpoints that run on them."""
